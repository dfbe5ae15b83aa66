import { readFileSync } from "node:fs";
import { nearest } from "@labwright/controllers";
import { secretPlaceholder, secretsNamedIn, secretVariablePrefix } from "../../config/secretPlaceholder.ts";
import { ToolError } from "../../errors.ts";
import type { Secrets } from "../ports.ts";
import { mapStrings } from "../values/strings.ts";
import { maskAddresses } from "./addressCredentials.ts";

/** Shorter values would be masked inside ordinary words. */
const shortest = 4;

/**
 * Secrets from the configuration and from `LABWRIGHT_SECRET_<NAME>`, which wins. Read once, here. Throws CONFIG_INVALID
 * that names every secret without a value or with one shorter than 4 characters. `mask` hides each value as it is and
 * URL-encoded, in base64 (also inside longer base64) and escaped as in JSON and HTML, and puts `[secret NAME]` there; it
 * hides credentials of addresses too.
 */
export function createSecrets(
  sources: Readonly<Record<string, { env: string } | { file: string }>>,
  env: Readonly<Record<string, string | undefined>>,
): Secrets {
  const values = readValues(sources, env);
  const masks = [...values].flatMap(([name, value]) => forms(value).map((form) => ({ name, form })));
  // Longest first: a form may contain another.
  masks.sort((a, b) => b.form.length - a.form.length);

  const get = (name: string): string => {
    const value = values.get(name);
    if (value !== undefined) return value;
    const candidates = nearest(name, values.keys());
    throw new ToolError(
      "SECRET_NOT_FOUND",
      `There is no secret "${name}".`,
      candidates.length > 0
        ? `Did you mean ${candidates.join(", ")}?`
        : `Set ${secretVariablePrefix}${name} where the server starts, or name it under secrets in labwright.yaml.`,
      { candidates },
    );
  };
  const fillText = (text: string) => text.replace(secretPlaceholder, (_, name: string) => get(name));
  const maskText = (text: string) =>
    masks.reduce((masked, { name, form }) => masked.replaceAll(form, `[secret ${name}]`), text);
  return {
    fill: (value) => mapStrings(value, fillText),
    check: (value) => void mapStrings(value, fillText),
    named: secretsNamedIn,
    mask: (value) => mapStrings(value, (text) => maskAddresses(maskText(text))),
    maskValues: (value) => (masks.length === 0 ? value : mapStrings(value, maskText)),
  };
}

function readValues(
  sources: Readonly<Record<string, { env: string } | { file: string }>>,
  env: Readonly<Record<string, string | undefined>>,
): Map<string, string> {
  const values = new Map<string, string>();
  const problems: string[] = [];
  const take = (name: string, origin: string, value: string | undefined) => {
    if (!value) problems.push(`${name}: ${origin} is not set or empty`);
    else if (value.length < shortest)
      problems.push(`${name}: ${origin} is shorter than ${shortest} characters`);
    else values.set(name, value);
  };
  const direct = Object.keys(env).filter((name) => name.startsWith(secretVariablePrefix));
  for (const variable of direct) take(variable.slice(secretVariablePrefix.length), variable, env[variable]);
  for (const [name, source] of Object.entries(sources)) {
    if (direct.includes(secretVariablePrefix + name)) continue;
    if ("env" in source) take(name, `variable ${source.env}`, env[source.env]);
    else take(name, `file ${source.file}`, readSecretFile(source.file));
  }
  if (problems.length === 0) return values;
  throw new ToolError(
    "CONFIG_INVALID",
    `Secrets cannot be read:\n${problems.join("\n")}`,
    "Give each of them a value, or take it out of labwright.yaml.",
    { problems },
  );
}

/** A file's text without the line end that editors add; undefined when it cannot be read. */
function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch {
    return undefined;
  }
}

/** Every spelling of a value that is hidden. */
function forms(value: string): string[] {
  const uri = encodeURIComponent(value);
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const json = JSON.stringify(value).slice(1, -1);
  const spellings = [
    value,
    uri,
    uri.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    form,
    json,
    JSON.stringify(json).slice(1, -1),
    json.replaceAll("/", "\\/"),
    markup(value),
    ...base64Forms(value),
  ];
  return [...new Set(spellings)].filter((spelling) => spelling.length >= shortest);
}

const markup = (value: string) =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/**
 * What base64 of any text that contains the value must contain: for each of the three ways the value can fall on the
 * three-byte groups, the characters that depend on it alone.
 */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  const inner = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const start = offset === 0 ? 0 : offset + 1;
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    return text.slice(start, end);
  });
  // Under 8 characters they would be found by chance.
  const found = inner.filter((text) => text.length >= 8);
  return [bytes.toString("base64"), ...found].flatMap((text) => [
    text,
    text.replaceAll("+", "-").replaceAll("/", "_"),
    text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""),
  ]);
}
