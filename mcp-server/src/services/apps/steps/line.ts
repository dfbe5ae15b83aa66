import { nearest } from "@labwright/controllers";
import { z } from "zod";
import { ToolError } from "../../../errors.ts";
import { schemaJson } from "../../values/inputProblems.ts";
import type { Meaning } from "../authoring/phrase.ts";
import { quotedMark, type Sentence, unmark } from "../authoring/sentences.ts";
import { argumentProblems, type CheckOffer, type CommandOffer, type Fields, type Verbs } from "./verbs.ts";

/** The JSON Schema of a command or check, as `list_actions` and `list_verifications` give it. */
export const schemaSchema = z.object({
  properties: z.record(
    z.string(),
    z.looseObject({
      type: z.string().optional(),
      enum: z.array(z.unknown()).optional(),
      anyOf: z.array(z.looseObject({ type: z.string().optional() })).optional(),
    }),
  ),
  required: z.array(z.string()).default([]),
});
export type CommandSchema = z.output<typeof schemaSchema>;

export type Said = { command: string; not: boolean; words: string[] };

export const separator = "then";

const shortActions: Readonly<Record<string, string>> = {
  ...{ click: "click_element", fill: "input_text", type: "type_text", press: "press_key" },
  ...{ select: "select_option", tick: "set_checked", hover: "hover_element", drag: "drag_and_drop" },
  ...{ upload: "upload_file", open: "navigate_to_url", back: "go_back", wait: "wait_for" },
  ...{ text: "get_text", value: "get_value", table: "get_table", dialog: "handle_dialog" },
};
const shortChecks: Readonly<Record<string, string>> = {
  ...{ text: "text_visible", visible: "element_visible", hidden: "element_hidden", url: "url_matches" },
  ...{ value: "element_value", has: "element_text", checked: "element_checked", title: "title_matches" },
  ...{ enabled: "element_enabled", disabled: "element_disabled", count: "element_count" },
  ...{ cell: "table_cell", empty: "element_empty", focused: "element_focused" },
  state: "element_state",
};
export const shortNames = { do: shortActions, check: shortChecks } as const;
type Verb = keyof typeof shortNames;

/** `click e3 then fill e4 anna` as its commands. `not` before a check wants its contrary. Throws INVALID_INPUT. */
export function commandsIn(line: readonly string[], verb: Verb): Said[] {
  const parts: string[][] = [[]];
  for (const word of line) {
    if (word === separator) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts.map((part) => {
    const not = verb === "check" && part[0] === "not";
    const [name, ...words] = not ? part.slice(1) : part;
    if (name === undefined) {
      const message = `A command is missing ${parts.length > 1 ? `next to "${separator}"` : `after labwright ${verb}`}.`;
      throw new ToolError("INVALID_INPUT", message, `For example: ${examples[verb]}`);
    }
    return { command: name, not, words };
  });
}

/** What `open` means on a device that has no `navigate_to_url`: a link if it has a scheme, else an app. */
const openElsewhere = ([what = ""]: readonly string[]) =>
  /^[a-z][\w+.-]*:/i.test(what) ? "open_deep_link" : "open_app";

const isShort = ({ command }: Said, verb: Verb): boolean => Object.hasOwn(shortNames[verb], command);

/** A name that the device offers means itself. Any other may be short for one that it offers; else returns the full name. */
export function commandOf(said: Said, verb: Verb, offered: ReadonlySet<string>): string {
  const { command, words } = said;
  const full = isShort(said, verb) ? (shortNames[verb][command] ?? command) : command;
  const elsewhere = verb === "do" && command === "open" ? [openElsewhere(words)] : [];
  return [command, full, ...elsewhere].find((name) => offered.has(name)) ?? full;
}

const examples = {
  do: `labwright do fill "label=User" anna ${separator} click "Sign in"`,
  check: `labwright check text "Thank you" ${separator} not visible "#error"`,
};

/** `ref` and `selector`, also `to_ref` and `to_selector`, are one place in a line: whatever names an element. */
const targetOf = (name: string) => /^(.*?)(?:ref|selector)$/.exec(name)?.[1];

/** `--name value` for any, else the element, the required, then the other parameters in the schema's order. Throws INVALID_INPUT. */
export function paramsOf(said: Said, schema: CommandSchema, usage: string): Record<string, unknown> {
  const refuse: Refusal = (message) => {
    throw new ToolError("INVALID_INPUT", message, `It takes: ${usage}`);
  };
  const params: Record<string, unknown> = {};
  const free = namedParams(said, schema, params, refuse).filter((word) => !placed(word, params, schema));
  const slots = slotsFor(free.length, params, schema);
  const list = slots.findIndex((name) => isList(name, schema));
  const texts = list === -1 ? [] : free.slice(list);
  const single = texts.length > 1 ? free.slice(0, list) : free;
  if (single.length > slots.length) refuse(`${said.command} does not take so many values: ${free.join(" ")}`);
  for (const [index, word] of single.entries()) {
    const name = parameterAt(slots[index] ?? "", word, schema);
    params[name] = readAs(word, name, schema, refuse);
  }
  if (texts.length > 1) params[slots[list] ?? ""] = texts;
  return params;
}

/** A required list takes its first word and all words after it. */
const isList = (name: string, { properties, required }: CommandSchema) =>
  required.includes(name) && properties[name]?.type === "array";

type Refusal = (message: string) => never;

function namedParams(
  { command, words }: Said,
  schema: CommandSchema,
  params: Record<string, unknown>,
  refuse: Refusal,
): string[] {
  const left: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const name = /^--([a-z]\w*)$/.exec(word)?.[1];
    if (name === undefined) {
      left.push(word);
      continue;
    }
    if (!(name in schema.properties)) {
      const [near] = nearest(name, Object.keys(schema.properties), 1);
      refuse(`${command} has no ${name}${near === undefined ? "" : `; did you mean --${near}?`}`);
    }
    params[name] = readAs(rest.shift() ?? refuse(`--${name} needs a value.`), name, schema, refuse);
  }
  return left;
}

export const isRef = (word: string) => /^(?:f\d+)?e\d+$/.test(word);

/** The parameter of a slot: for an element `ref` or `selector`, whichever the word is. */
function parameterAt(slot: string, word: string, { properties }: CommandSchema): string {
  const prefix = targetOf(slot);
  const name = prefix === undefined ? slot : `${prefix}${isRef(word) ? "ref" : "selector"}`;
  return name in properties ? name : slot;
}

/** Puts a word of an optional closed list, or true or false, into its parameter, wherever it is in the line. */
function placed(word: string, params: Record<string, unknown>, { properties, required }: CommandSchema) {
  const isBoolean = word === "true" || word === "false";
  const fits = Object.entries(properties).find(
    ([name, { enum: list, type }]) =>
      !(name in params) &&
      !required.includes(name) &&
      (list?.includes(word) || (type === "boolean" && isBoolean)),
  );
  if (fits === undefined) return false;
  const [name, { type }] = fits;
  params[name] = type === "boolean" ? word === "true" : word;
  return true;
}

/** What is given by its name, and never as the next word. */
const byNameOnly = ["timeout_ms", "expect_status"];

/** The places that so many words fill, in order. */
function slotsFor(count: number, params: Record<string, unknown>, { properties, required }: CommandSchema) {
  const names = Object.keys(properties).filter((name) => !(name in params) && !byNameOnly.includes(name));
  const isGiven = (prefix: string) => `${prefix}ref` in params || `${prefix}selector` in params;
  const places = names.filter((name) => {
    const prefix = targetOf(name);
    if (prefix === undefined) return true;
    return !isGiven(prefix) && (name.endsWith("ref") || !names.includes(`${prefix}ref`));
  });
  const needed = places.filter((name) => required.includes(name));
  if (count <= needed.length && needed.length > 0) return needed;
  const isFirst = (name: string) => targetOf(name) !== undefined || required.includes(name);
  return [...places.filter(isFirst), ...places.filter((name) => !isFirst(name))];
}

/** How a word is read as a JSON type; undefined when it is none of that type. A value without a type is text or JSON. */
const readers: Readonly<Record<string, (word: string) => unknown>> = {
  string: (word) => word,
  number: (word) => (word.trim() !== "" && Number.isFinite(Number(word)) ? Number(word) : undefined),
  integer: (word) => (/^-?\d+$/.test(word) ? Number(word) : undefined),
  boolean: (word) => (word === "true" ? true : word === "false" ? false : undefined),
  array: (word) => (word.startsWith("[") ? json(word) : [word]),
  object: (word) => json(word),
};

function json(word: string): unknown {
  try {
    return JSON.parse(word);
  } catch {
    return undefined;
  }
}

function readAs(word: string, name: string, { properties }: CommandSchema, refuse: Refusal): unknown {
  const { type, anyOf = [] } = properties[name] ?? {};
  const types = type === undefined ? anyOf.flatMap((one) => one.type ?? []) : [type];
  if (types.length === 0) return /^\s*[[{]/.test(word) ? (json(word) ?? word) : word;
  // A text takes every word, and a list a single one: the more exact comes first.
  const rank = (one: string) => (one === "string" ? 1 : one === "array" && !word.startsWith("[") ? 2 : 0);
  for (const one of types.toSorted((a, b) => rank(a) - rank(b))) {
    const value = readers[one]?.(word);
    if (value !== undefined) return value;
  }
  return refuse(`${name} is of type ${types.join(" or ")}, which "${word}" is not.`);
}

/** A line of `labwright do` or `labwright check` in a test, such as `fill "Email" "anna"`; undefined for any other sentence. */
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
function commandNamed(said: Said, verb: Verb, { commands, checks }: Verbs): string | undefined {
  const offers = verb === "check" ? checks : commands;
  const isShort = Object.hasOwn(shortNames[verb], said.command);
  if (isShort === offers.has(said.command)) return undefined;
  return commandOf(said, verb, new Set(offers.keys()));
}

const onlyReads = (offer: CommandOffer | CheckOffer) =>
  "effect" in offer && offer.effect === "read" && offer.name !== "wait_for";

const readings = (command: string) => ['check text "T"', `{ ${command}: { selector: "X" }, into: name }`];

function checkOf(command: string, { timeout_ms, ...params }: Fields, negate: boolean): Meaning {
  const time = typeof timeout_ms === "number" ? { timeout_ms } : {};
  return { drafts: [{ type: "verification", command, params, ...(negate && { negate }), ...time }] };
}

/** Undefined where a word is none of the values that the command takes, or a ref, which a test cannot keep. */
function valuesOf(
  said: Said,
  values: readonly string[],
  { input }: CommandOffer | CheckOffer,
): Fields | undefined {
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

/** Only numbers, parameter names, selectors, addresses and words of a closed list need no quotes. */
function isPlain(value: string, { properties }: CommandSchema): boolean {
  const listed = Object.values(properties).flatMap(({ enum: list = [] }) => list);
  return !/^[\p{L}'-]+$/u.test(value) || value === "true" || value === "false" || listed.includes(value);
}
