import type { Execution, FinalStatus } from "../../../domain/index.ts";

export type PastStart = Pick<
  Execution,
  "device" | "device_version" | "environment" | "release" | "build" | "userinterface"
> & { input?: unknown };
export type PastRun = PastStart & Pick<Execution, "id" | "status" | "started_at">;

/** Facts that differ from run to run and do not matter. */
const meaningless: ReadonlySet<string> = new Set(["testcase", "start.by", "retries", "retry_on"]);
const longest = 60;
const mostDifferences = 6;
/** How the starts of two runs that ended differently differed, in a line; undefined if no difference is known. */
export function rerunText(now: PastStart & { status: FinalStatus }, before: PastRun): string | undefined {
  if (now.status === before.status) return undefined;
  const build = now.build === undefined ? "no build is known of either" : `same build ${now.build}`;
  const head = `Its last run ${before.status} (${before.id}, ${before.started_at.slice(0, 16).replace("T", " ")} UTC, ${build})`;
  const different = differences(factsOf(now), factsOf(before));
  if (different.length === 0) return undefined;
  const more = different.length > mostDifferences ? ` and ${different.length - mostDifferences} more` : "";
  return `${head}. The starts differed: ${different.slice(0, mostDifferences).join("; ")}${more}.`;
}

/** Every fact of a start by name, such as `inputs.user` or `device`. */
function factsOf({ input, device, device_version, environment, release, userinterface }: PastStart) {
  const facts = new Map<string, string>();
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null || meaningless.has(name)) return;
    if (typeof value !== "object" || Array.isArray(value)) {
      facts.set(name, typeof value === "string" ? value : JSON.stringify(value));
      return;
    }
    for (const [key, inner] of Object.entries(value)) add(`${name}.${key}`, inner);
  };
  for (const [name, value] of Object.entries({ device, device_version, environment, release, userinterface }))
    add(name, value);
  if (typeof input === "object" && input !== null)
    for (const [key, value] of Object.entries(input)) add(key, value);
  return facts;
}

function differences(now: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>): string[] {
  const names = [...new Set([...before.keys(), ...now.keys()])];
  return names
    .filter((name) => now.get(name) !== before.get(name))
    .map((name) => `${name} was ${shown(before.get(name))}, now ${shown(now.get(name))}`);
}

function shown(value: string | undefined): string {
  if (value === undefined) return "not given";
  return value.length > longest ? `"${value.slice(0, longest)}…"` : `"${value}"`;
}
