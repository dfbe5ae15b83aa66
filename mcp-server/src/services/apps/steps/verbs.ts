import { type ControllerFactory, nearest } from "@labwright/controllers";
import { actionSchema, blockKeys, type blockTypes } from "../../../domain/index.ts";
import { inputProblems } from "../../values/inputProblems.ts";

type KindOffer = ReturnType<ControllerFactory["offers"]>[number];
export type CommandOffer = KindOffer["commands"][number];
export type CheckOffer = KindOffer["checks"][number];

/** All commands and checks that drivers declare, by name; of one name as many as declare it. */
export type Verbs = {
  commands: ReadonlyMap<string, readonly CommandOffer[]>;
  checks: ReadonlyMap<string, readonly CheckOffer[]>;
};

export function verbsOf(factories: readonly Pick<ControllerFactory, "offers">[]): Verbs {
  const offers = factories.flatMap((factory) => factory.offers());
  return {
    commands: byName(offers.flatMap(({ commands }) => commands)),
    checks: byName(offers.flatMap(({ checks }) => checks)),
  };
}

function byName<Offer extends { name: string }>(offers: readonly Offer[]): Map<string, Offer[]> {
  const named = new Map<string, Offer[]>();
  for (const offer of offers) named.set(offer.name, [...(named.get(offer.name) ?? []), offer]);
  return named;
}

/** What is wrong with the arguments of a command or check, one line each, by the driver that finds least. */
export function argumentProblems({ commands, checks }: Verbs, verb: string, args: unknown): string[] {
  const offers = [...(commands.get(verb) ?? []), ...(checks.get(verb) ?? [])];
  const problems = offers.map(({ input }) => inputProblems(input, args, verb));
  return problems.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

export type Fields = Readonly<Record<string, unknown>>;
/** A kind of block besides commands and checks, as the verb of a step. */
export type Kind = {
  type: (typeof blockTypes)[number];
  /** The key that the verb's value is; undefined for a value that has the block's own keys. */
  only?: string;
  /** The key that a text is, where the value has the block's own keys. */
  short?: string;
};

export const kinds: Readonly<Record<string, Kind>> = {
  go: { type: "navigation", only: "target" },
  call: { type: "call_testcase", short: "testcase" },
  script: { type: "script", short: "script" },
  set: { type: "set", only: "values" },
  sleep: { type: "sleep", only: "duration_ms" },
  condition: { type: "condition", only: "expression" },
  api_request: { type: "api_request" },
  get_current_time: { type: "get_current_time" },
};

/** Verbs around other steps: `not` around a check, the others are loops. */
export const loopVerbs = ["repeat", "while"] as const;

/** The block's keys for the value of a kind; undefined if the value does not fit. */
export function fieldsOf({ only, short }: Kind, value: unknown): Fields | undefined {
  if (only !== undefined) return { [only]: value };
  if (short !== undefined && typeof value === "string") return { [short]: value };
  if (value === null || value === undefined) return {};
  return isFields(value) ? value : undefined;
}

export function writtenValue({ only, short }: Kind, fields: Fields): unknown {
  if (only !== undefined) return fields[only];
  const keys = Object.keys(fields);
  return short !== undefined && keys.length === 1 && keys[0] === short ? fields[short] : fields;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isVerb = ({ commands, checks }: Verbs, key: string): boolean =>
  commands.has(key) || checks.has(key) || Object.hasOwn(kinds, key) || key === "not" || isLoop(key);

export const isLoop = (key: string): boolean => loopVerbs.some((verb) => verb === key);

/** `did you mean "click_element"?`, of all that a step may name. */
export function nearestVerb({ commands, checks }: Verbs, wanted: string): string {
  const known = [...commands.keys(), ...checks.keys(), ...Object.keys(kinds), "not", ...loopVerbs];
  const [best] = nearest(wanted, known, 1);
  return best === undefined
    ? "list_actions and list_verifications show what there is"
    : `did you mean "${best}"?`;
}

/** Keys that may be next to the verb of a step, by what the verb makes. */
export type Companions = Readonly<Record<"action" | "verification" | "kind" | "loop", readonly string[]>>;

const own = (keys: readonly string[]) =>
  keys.filter((key) => !["type", "command", "params", "negate"].includes(key));
const ofAction = own(Object.keys(actionSchema.shape));

/** In a test; in a list of actions, where a check is an action too; in a list of checks. */
export const companionKeys = {
  test: {
    action: own(blockKeys("action")),
    verification: own(blockKeys("verification")),
    kind: ["id", "label"],
    loop: ["id", "label", "steps", "on_failure"],
  },
  actions: { action: ofAction, verification: ofAction, kind: [], loop: [] },
  checks: { action: [], verification: ["verification_type", "timeout_ms"], kind: [], loop: [] },
} as const satisfies Readonly<Record<string, Companions>>;
