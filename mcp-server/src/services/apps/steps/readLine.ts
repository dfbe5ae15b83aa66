import { ToolError } from "../../../errors.ts";
import { schemaJson } from "../../values/inputProblems.ts";
import type { Meaning } from "../authoring/phrase.ts";
import { quotedMark, type Sentence, unmark } from "../authoring/sentences.ts";
import {
  type CommandSchema,
  commandOf,
  isRef,
  paramsOf,
  type Said,
  schemaSchema,
  shortNames,
} from "./line.ts";
import { argumentProblems, type CheckOffer, type CommandOffer, type Verbs } from "./verbs.ts";

/**
 * A line as `labwright do` and `labwright check` take it, in a test: `fill "Email" "anna"`, `check count "css=.item" 3`.
 * Undefined for any other sentence. Names of elements and texts stand in quotes, so that no word is taken for one.
 */
export function readLine({ text, quoted }: Sentence, verbs: Verbs): Meaning | undefined {
  const verb = /^check /i.test(text) ? "check" : "do";
  const words = text.replace(/^check /i, "").split(" ");
  const not = verb === "check" && words[0] === "not";
  const [name = "", ...values] = not ? words.slice(1) : words;
  const said: Said = { command: name, not, words: values.map((word) => unmark({ text: word, quoted })) };
  const command = commandNamed(said, verb, verbs);
  const offers = (verb === "check" ? verbs.checks : verbs.commands).get(command ?? "") ?? [];
  if (command === undefined || offers.length === 0 || values.length === 0) return undefined;
  if (offers.some(onlyReads)) return { reason: "what is read goes nowhere", nearest: readings(command) };
  const params = offers
    .map((offer) => valuesOf(said, values, offer))
    .find((given) => given && argumentProblems(verbs, command, given).length === 0);
  if (params === undefined) return undefined;
  return verb === "check" ? checkOf(command, params, not) : { drafts: [{ type: "action", command, params }] };
}

/** The one command or check of a name. Which of two a name means depends on the device, and a test may run on several. */
function commandNamed(said: Said, verb: "do" | "check", { commands, checks }: Verbs): string | undefined {
  const offers = verb === "check" ? checks : commands;
  const isShort = Object.hasOwn(shortNames[verb], said.command);
  if (isShort === offers.has(said.command)) return undefined;
  return commandOf(said, verb, new Set(offers.keys()));
}

const onlyReads = (offer: CommandOffer | CheckOffer) =>
  "effect" in offer && offer.effect === "read" && offer.name !== "wait_for";

const readings = (command: string) => ['check text "T"', `{ ${command}: { selector: "X" }, into: name }`];

function checkOf(command: string, { timeout_ms, ...params }: Values, negate: boolean): Meaning {
  const time = typeof timeout_ms === "number" ? { timeout_ms } : {};
  return { drafts: [{ type: "verification", command, params, ...(negate && { negate }), ...time }] };
}

type Values = Readonly<Record<string, unknown>>;

/** Undefined where a word is none of the values that the command takes, or a ref, which a test cannot keep. */
function valuesOf(
  said: Said,
  values: readonly string[],
  { input }: CommandOffer | CheckOffer,
): Values | undefined {
  const schema = schemaSchema.parse(schemaJson(input));
  const isWord = new RegExp(`^${quotedMark}$`);
  if (values.some((value) => !isWord.test(value) && !isPlain(value, schema))) return undefined;
  if (said.words.some(isRef)) return undefined;
  try {
    return paramsOf(said, schema, "");
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
}

/** Without quotes stand numbers, names of parameters, selectors, addresses and the words of a closed list. */
function isPlain(value: string, { properties }: CommandSchema): boolean {
  const listed = Object.values(properties).flatMap(({ enum: list = [] }) => list);
  return !/^[\p{L}'-]+$/u.test(value) || value === "true" || value === "false" || listed.includes(value);
}
