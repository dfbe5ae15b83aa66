import { executionKindSchema, type Params } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { EventInput } from "../../ports.ts";
import { mapStrings } from "../../values/strings.ts";

type OutsideAlert = { kind: string; message: string; device_id?: string | undefined };

/** Either an event with its type, or an alert and nothing else. */
export type OutsideEvent = {
  type?: string | undefined;
  priority?: EventInput["priority"] | undefined;
  device_id?: string | undefined;
  payload?: Params | undefined;
  alert?: OutsideAlert | undefined;
  /** An event that comes again under it is published once. */
  delivery?: string | undefined;
};

/** First words of the events that only the server publishes. */
const ours: ReadonlySet<string> = new Set([
  ...executionKindSchema.options,
  "alert",
  "execution",
  "deployment",
  "script",
  "recording",
]);

/** Kinds whose events would look like `alert.resolved` and `alert.triaged`. */
const taken: ReadonlySet<string> = new Set(["resolved", "triaged"]);

const kindName = /^(?=.{1,60}$)[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const typeName = /^(?=.{1,100}$)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/;

/** Throws INVALID_INPUT for what is neither one of our kinds nor a name in their style. */
export function checkKind(kind: string): void {
  if (kindName.test(kind) && !taken.has(kind)) return;
  throw new ToolError(
    "INVALID_INPUT",
    taken.has(kind)
      ? `kind: "${kind}" is the name of a step of every alert.`
      : `kind: "${kind.slice(0, 100)}" is not a name in lower_snake_case of at most 60 characters.`,
    "Name what went wrong, such as blackscreen, no_signal or ci_failure.",
  );
}

/** Throws INVALID_INPUT for a type that is not a dotted name, or one that only the server publishes. */
export function checkType(type: string): void {
  if (!typeName.test(type)) {
    throw new ToolError(
      "INVALID_INPUT",
      `type: "${type.slice(0, 120)}" is not a lower-case dotted name of at most 100 characters.`,
      "Name it as webhook.ci_failure or build.deployed.",
    );
  }
  const [first = ""] = type.split(".");
  if (!ours.has(first)) return;
  throw new ToolError(
    "INVALID_INPUT",
    `type: event types starting with "${first}." are reserved for the server.`,
    first === "alert"
      ? "Give alert instead of type."
      : `Give it a name of your own, such as webhook.${first}.`,
    { prefix: `${first}.` },
  );
}

/** An event with its type or an alert. Throws INVALID_INPUT for both, for neither, and for an alert with more. */
export function readOutside({ alert, ...event }: OutsideEvent): { alert: OutsideAlert } | { type: string } {
  const given = Object.entries(event).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (alert && given.length === 0) return { alert };
  if (!alert && event.type !== undefined) return { type: event.type };
  throw new ToolError(
    "INVALID_INPUT",
    alert ? `An alert is published alone, not with ${given.join(", ")}.` : "There is nothing to publish.",
    "Give type with priority, device_id and payload, or alert with kind, message and device_id.",
  );
}

const limits = { bytes: 65_536, depth: 32 };

/** Plain data for a JSON column, without NUL and lone surrogates. Throws INPUT_TOO_LARGE over 64 KB of JSON or 32 levels. */
export function storablePayload(payload: Params): Params {
  if (isDeeper(payload, limits.depth)) throw tooLarge(`is deeper than ${limits.depth} levels`);
  const plain = mapStrings(payload, storableString);
  const bytes = Buffer.byteLength(JSON.stringify(plain));
  if (bytes > limits.bytes) throw tooLarge(`is ${bytes} bytes of JSON, over ${limits.bytes}`);
  return plain;
}

/** Stops at the limit, so that no depth can be too much for it. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

/** A round trip through UTF-8 replaces lone surrogates. */
const storableString = (text: string) =>
  Buffer.from(text.replaceAll("\u0000", "\ufffd"), "utf8").toString("utf8");

const tooLarge = (what: string) =>
  new ToolError("INPUT_TOO_LARGE", `payload ${what}.`, "Send what a reader needs and a link to the rest.", {
    max_bytes: limits.bytes,
    max_depth: limits.depth,
  });
