import { AsyncLocalStorage } from "node:async_hooks";
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { nearest } from "@labwright/controllers";
import { secretPlaceholder, secretsNamedIn, secretVariablePrefix } from "../../config/secretPlaceholder.ts";
import { ToolError } from "../../errors.ts";
import type { Secrets } from "../ports.ts";
import { mapStrings } from "../values/strings.ts";
import { maskAddresses } from "./maskAddresses.ts";
import { createMask, shortestSecret } from "./masks.ts";
import { createBounds, type SecretBounds } from "./secretBounds.ts";

type Sources = Readonly<Record<string, ({ env: string } | { file: string }) & SecretBounds>>;
type Variables = Readonly<Record<string, string | undefined>>;
type Reading = { value: string } | { problem: string };
type Snapshot = { readings: ReadonlyMap<string, Reading>; holders: number };

/**
 * Secrets from the configuration and from `LABWRIGHT_SECRET_<NAME>`, which wins. Each call and each run outside of calls reads
 * them when it starts, so that a file may change; what a caller gives by name stands above them for that call and its runs.
 * Bounds are those of the name, wherever its value comes from; `hosts` may have each secret without hosts of its own.
 * `mask` hides each value as {@link createMask} says, and credentials of addresses. Given values are hidden, and kept, as long as
 * something runs with them.
 */
export function createSecrets(sources: Sources, env: Variables, hosts: readonly string[] = []): Secrets {
  const inUse = new AsyncLocalStorage<Snapshot>();
  const held = new Set<Snapshot>();
  const own = new Map<string, string>();
  const salt = randomBytes(32);
  let masks: ((text: string) => string) | undefined;
  const maskOf = lastKept(createMask);
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
    masks ??= maskOf([...new Map([...own, ...[...held].flatMap(({ readings }) => valuesOf(readings))])]);
    return masks(text);
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
    ...{ named: secretsNamedIn, ...createBounds(sources, hosts) },
    ofEnvironment(name) {
      const { readings } = current();
      if (readings.has(name)) return valueIn(name, readings);
      return learn(name, variableIn(name, env));
    },
    learn: (name, value) => void (value.length < shortestSecret || learn(name, value)),
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

/** Makes the same again only where what it is made of differs: every call has secrets, and they are mostly the same. */
function lastKept<Given, Made>(make: (given: Given) => Made): (given: Given) => Made {
  let last: { key: string; made: Made } | undefined;
  return (given) => {
    const key = JSON.stringify(given);
    if (last?.key !== key) last = { key, made: make(given) };
    return last.made;
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
  return value.length < shortestSecret
    ? { problem: `${origin} is shorter than ${shortestSecret} characters` }
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
