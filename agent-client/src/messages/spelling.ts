type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Names that the seed writes otherwise. */
const renamed: readonly [RegExp, string][] = [
  [/^open_?api_spec(_reference)?$/, "openapi_spec"],
  [/^endpoint_list(_with_priorities)?$/, "endpoints"],
  [/^passed\/failed_test_cases$/, "test_cases"],
  [/^test_execution_summary$/, "summary"],
  [/^release_version$/, "release"],
];

/** `MessageType`, `Max execution time` and `message_type` are one key. A note in brackets is left out. */
function keyOf(key: string): string {
  const name = key
    .replace(/\s*\([^)]*\)/g, "")
    .trim()
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[\s-]+/g, "_")
    .toLowerCase();
  return renamed.find(([pattern]) => pattern.test(name))?.[1] ?? name;
}

const renameKeys = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [keyOf(key), value]));

/** The seed writes parts as a list of `Name: value`; it becomes one object. Anything else stays for the schema to judge. */
function asFields(given: unknown): unknown {
  const whole: unknown = Array.isArray(given) && given.every(isFields) ? Object.assign({}, ...given) : given;
  if (!isFields(whole)) return whole;
  const { assertion_rules: rules, ...part } = renameKeys(whole);
  return rules === undefined ? part : { ...part, assertion_rules: asFields(rules) };
}

const parts = ["payload", "context", "constraints", "expected_response"];

/** A message in the spelling of seed 001 (MessageType, lists of `Name: value`) in ours; ours stays as it is. */
export function canonical(given: unknown): unknown {
  if (!isFields(given)) return given;
  const message = renameKeys(given);
  for (const part of parts) if (part in message) message[part] = asFields(message[part]);
  return message;
}
