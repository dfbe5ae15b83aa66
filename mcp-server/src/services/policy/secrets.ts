import { AsyncLocalStorage } from "node:async_hooks";
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { nearest } from "@labwright/controllers";
import { secretPlaceholder, secretsNamedIn, secretVariablePrefix } from "../../config/secretPlaceholder.ts";
import { ToolError } from "../../errors.ts";
import type { Secrets } from "../ports.ts";
import { mapStrings } from "../values/strings.ts";

/** Shorter values would be masked inside ordinary words. */
const shortest = 4;

type Sources = Readonly<Record<string, { env: string } | { file: string }>>;
type Variables = Readonly<Record<string, string | undefined>>;
type Reading = { value: string } | { problem: string };
type Snapshot = { readings: ReadonlyMap<string, Reading>; holders: number };

/**
 * Secrets from the configuration and from `LABWRIGHT_SECRET_<NAME>`, which wins. Each call and each run outside of calls reads
 * them when it starts, so that a file may change; what a caller gives by name stands above them for that call and its runs.
 * `mask` hides each value as it is and URL-encoded, in base64 (also inside longer base64) and escaped as in JSON and HTML, and
 * puts `[secret NAME]` there; it hides credentials of addresses too. Given values are hidden, and kept, as long as something
 * runs with them.
 */
export function createSecrets(sources: Sources, env: Variables): Secrets {
  const inUse = new AsyncLocalStorage<Snapshot>();
  const held = new Set<Snapshot>();
  const own = new Map<string, string>();
  const salt = randomBytes(32);
  let masks: readonly Mask[] | undefined;
  const learn = (name: string, value: string): string => {
    if (own.get(value) !== name) masks = undefined;
    own.set(value, name);
    return value;
  };
  const read = (given: Variables): Snapshot => {
    const readings = readSecrets(sources, env);
    for (const [name, reading] of readings) if ("value" in reading) learn(name, reading.value);
    for (const [name, value] of Object.entries(given))
      readings.set(name, readingOf("its value where the run was started", value));
    return { readings, holders: 0 };
  };
  const first = read({});
  const current = () => inUse.getStore() ?? first;
  const maskText = (text: string) => {
    masks ??= masksOf([...own, ...[...held].flatMap(({ readings }) => valuesOf(readings))]);
    return masks.reduce((masked, { name, form }) => masked.replaceAll(form, `[secret ${name}]`), text);
  };

  const hold = (snapshot: Snapshot) => {
    snapshot.holders += 1;
    if (!held.has(snapshot)) masks = undefined;
    held.add(snapshot);
    return {
      run: <T>(work: () => T): T => inUse.run(snapshot, work),
      release() {
        snapshot.holders -= 1;
        if (snapshot.holders > 0) return;
        held.delete(snapshot);
        masks = undefined;
      },
    };
  };
  const fillText = (text: string) =>
    text.replace(secretPlaceholder, (_, name: string) => valueIn(name, current().readings));
  return {
    fill: (value) => mapStrings(value, fillText),
    check: (value) => void mapStrings(value, fillText),
    checkNames(value) {
      const { readings } = current();
      for (const name of secretsNamedIn(value)) if (!readings.has(name)) valueIn(name, readings);
    },
    named: secretsNamedIn,
    ofEnvironment(name) {
      const { readings } = current();
      if (readings.has(name)) return valueIn(name, readings);
      return learn(name, variableIn(name, env));
    },
    mask: (value) => mapStrings(value, (text) => maskAddresses(maskText(text))),
    maskValues: (value) => mapStrings(value, maskText),
    async within(given, work) {
      const call = hold(read(given));
      try {
        return await call.run(work);
      } finally {
        call.release();
      }
    },
    hold: () => hold(inUse.getStore() ?? read({})),
    fingerprint: () => fingerprintOf(valuesOf(current().readings), salt),
    problems: () =>
      [...first.readings].flatMap(([name, reading]) =>
        "problem" in reading ? `${name}: ${reading.problem}` : [],
      ),
  };
}

function variableIn(name: string, env: Variables): string {
  const reading = readingOf(`The variable ${name}`, env[name]);
  if ("value" in reading) return reading.value;
  const hint = "Set it where the server starts, or name it under secrets in labwright.yaml.";
  throw new ToolError("SECRET_NOT_FOUND", `${reading.problem}.`, hint, { candidates: [] });
}

const fingerprintOf = (values: (readonly string[])[], salt: Uint8Array): string =>
  values.length === 0 ? "" : createHmac("sha256", salt).update(JSON.stringify(values.sort())).digest("hex");

function valueIn(name: string, readings: Snapshot["readings"]): string {
  const reading = readings.get(name);
  if (reading && "value" in reading) return reading.value;
  if (reading) {
    const message = `The secret "${name}" has no value: ${reading.problem}.`;
    throw new ToolError("SECRET_NOT_FOUND", message, "Set it where the run or the server starts.", {
      candidates: [],
    });
  }
  const candidates = nearest(name, readings.keys());
  throw new ToolError(
    "SECRET_NOT_FOUND",
    `There is no secret "${name}".`,
    candidates.length > 0
      ? `Did you mean ${candidates.join(", ")}?`
      : `Set ${secretVariablePrefix}${name} where the run or the server starts, or name it under secrets in labwright.yaml.`,
    { candidates },
  );
}

type Mask = { name: string; form: string };

/** The longest spelling first: one may contain another. */
const masksOf = (values: readonly (readonly [value: string, name: string])[]): Mask[] =>
  [...new Map(values)]
    .flatMap(([value, name]) => forms(value).map((form) => ({ name, form })))
    .sort((a, b) => b.form.length - a.form.length);

const valuesOf = (readings: Snapshot["readings"]) =>
  [...readings].flatMap(([name, reading]) => ("value" in reading ? [[reading.value, name] as const] : []));

function readSecrets(sources: Sources, env: Variables): Map<string, Reading> {
  const readings = new Map<string, Reading>();
  for (const [name, source] of Object.entries(sources)) {
    if ("env" in source) readings.set(name, readingOf(`variable ${source.env}`, env[source.env]));
    else readings.set(name, readingOf(`file ${source.file}`, readSecretFile(source.file)));
  }
  for (const [name, value] of Object.entries(secretVariables(env)))
    readings.set(name, readingOf(secretVariablePrefix + name, value));
  return readings;
}

function readingOf(origin: string, value: string | undefined): Reading {
  if (!value) return { problem: `${origin} is not set or empty` };
  return value.length < shortest
    ? { problem: `${origin} is shorter than ${shortest} characters` }
    : { value };
}

/** The secrets that a process which asks for a run has by itself: those of its variables. */
export function givenSecrets(sources: Sources, env: Variables): Record<string, string> {
  const named = Object.entries(sources).flatMap(([name, source]) =>
    "env" in source ? [[name, env[source.env]] as const] : [],
  );
  const all = [...named, ...Object.entries(secretVariables(env))];
  return Object.fromEntries(
    all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
}

const secretVariables = (env: Variables): Variables =>
  Object.fromEntries(
    Object.entries(env)
      .filter(([variable]) => variable.startsWith(secretVariablePrefix))
      .map(([variable, value]) => [variable.slice(secretVariablePrefix.length), value]),
  );

/** A file's text without the line end that editors add; undefined when it cannot be read. */
function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch {
    return undefined;
  }
}

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

/** The base64 characters that depend on the value alone, for each of the three offsets at which it can start. */
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

const masked = "[masked]";

/** Query and fragment parameters whose value is a credential: OAuth, API keys, passwords, signed addresses of clouds. */
const parameters = [
  "access_key",
  "access_token",
  "api[_-]?key",
  "apitoken",
  "assertion",
  "auth_token",
  "authorization",
  "awsaccesskeyid",
  "bearer",
  "client_assertion",
  "client_secret",
  "code_verifier",
  "device_code",
  "id_token",
  "jwt",
  "oauth_token",
  "oauth_token_secret",
  "oauth_verifier",
  "passphrase",
  "passwd",
  "password",
  "private_token",
  "pwd",
  "refresh_token",
  "samlresponse",
  "secret",
  "session_token",
  "sig",
  "signature",
  "subscription-key",
  "token",
  "x-amz-credential",
  "x-amz-security-token",
  "x-amz-signature",
  "x-goog-credential",
  "x-goog-signature",
].join("|");

/** Also of an address that stands encoded in another one, and escaped as in JSON. */
const parameter = new RegExp(
  `((?:[?&#;]|%3F|%26|%23|\\\\u0026)(?:${parameters})(?:=|%3D))(?!\\[secret )(?:(?!%26|%23)[^\\s&#"'<>\\\\])+`,
  "gi",
);
const user = /(:(?:\/\/|\\\/\\\/))[^\s/?#"'<>\\]{1,1000}@/g;
const encodedUser = /(%3A%2F%2F)(?:(?!%2F|%3F|%23)[^\s/?#&"'<>]){1,1000}%40/gi;
const query = /[?#][^\s"'<>]+/g;

/** Hides credentials in addresses: user and password, the parameters above, and an OAuth `code` next to a `state`. */
export function maskAddresses(text: string): string {
  if (!/[=@]|%3D|%40/i.test(text)) return text;
  return text
    .replace(user, `$1${masked}@`)
    .replace(encodedUser, `$1${masked}%40`)
    .replace(parameter, `$1${masked}`)
    .replace(query, (found) =>
      /[?&#]state=/i.test(found) ? found.replace(/([?&#]code=)[^&#]+/gi, `$1${masked}`) : found,
    );
}
