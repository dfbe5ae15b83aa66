type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `MessageType`, `Max execution time` and `message_type` are one key. A note in brackets is left out. */
const keyOf = (key: string): string =>
  key
    .replace(/\s*\([^)]*\)/g, "")
    .trim()
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[\s-]+/g, "_")
    .toLowerCase();

/** Names that the seed writes otherwise. */
const renamed: Readonly<Record<string, string>> = {
  open_api_spec_reference: "openapi_spec",
  openapi_spec_reference: "openapi_spec",
  open_api_spec: "openapi_spec",
  endpoint_list_with_priorities: "endpoints",
  endpoint_list: "endpoints",
  "passed/failed_test_cases": "test_cases",
  test_execution_summary: "summary",
  release_version: "release",
};

const known = (key: string): string => {
  const name = keyOf(key);
  return renamed[name] ?? name;
};

const renameKeys = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [known(key), value]));

/** The seed writes parts as a list of `Name: value`; it becomes one object. Anything else stays for the schema to judge. */
function asFields(part: unknown): unknown {
  if (!Array.isArray(part)) return isFields(part) ? renameKeys(part) : part;
  if (!part.every(isFields)) return part;
  return renameKeys(Object.assign({}, ...part));
}

/** The seed's rules have names of several words, too. */
function withRules(part: unknown): unknown {
  if (!isFields(part) || !isFields(part.assertion_rules)) return part;
  return { ...part, assertion_rules: renameKeys(part.assertion_rules) };
}

const parts = ["payload", "context", "constraints", "expected_response"];

/** A message in the spelling of seed 001 (MessageType, lists of `Name: value`) in ours; ours stays as it is. */
export function canonical(given: unknown): unknown {
  if (!isFields(given)) return given;
  const message = renameKeys(given);
  for (const part of parts) if (part in message) message[part] = withRules(asFields(message[part]));
  return message;
}
