import { isDeepStrictEqual } from "node:util";
import { blockSchema, type Params } from "../../../domain/index.ts";
import { type Body, draftsOf, isBare, type Language, readQuietly } from "./readStep.ts";
import { isFields, kinds, writtenValue } from "./verbs.ts";

/** A block as a step: its usual words, else an object. The caller reads it again to see whether it says the same. */
export function writeBody(body: Body, language: Language): unknown {
  const { verb, value, companions } = partsOf(body);
  const isEmpty = isFields(value) && Object.keys(value).length === 0;
  const isAlone = isEmpty && Object.keys(companions).length === 0 && body.negate !== true;
  if (isAlone && isBare(verb, language.verbs)) return verb;
  const words = usualWords(withoutEmpty(body), language);
  if (words !== undefined) return words;
  return body.negate === true ? { not: { [verb]: value }, ...companions } : { [verb]: value, ...companions };
}

function partsOf({ type, id, label, negate: _, ...fields }: Body) {
  const names = { ...(id !== undefined && { id }), ...(label !== undefined && { label }) };
  if (type === "action" || type === "verification") {
    const { command, params = {}, ...companions } = fields;
    return { verb: String(command), value: params, companions: { ...names, ...companions } };
  }
  const found = Object.entries(kinds).find(([, kind]) => kind.type === type);
  if (!found) return { verb: type, value: fields, companions: names };
  const [verb, kind] = found;
  return { verb, value: writtenValue(kind, fields), companions: names };
}

/** A block without what its schema puts back. */
export function withoutDefaults(block: Body): Body {
  const { negate, ...rest } = block;
  const given: Body = negate === true ? block : { ...rest, type: block.type };
  const whole = parse(given);
  if (whole === undefined) return given;
  const needed = Object.entries(given).filter(([key]) => {
    const { [key]: _, ...without } = given;
    return !isDeepStrictEqual(parse(without), whole);
  });
  return { ...Object.fromEntries(needed), type: block.type };
}

const parse = (block: object): unknown => blockSchema.safeParse(block).data;

/** The usual words of a block, where they mean exactly it. */
function usualWords(body: Body, language: Language): string | undefined {
  const isMeant = (words: string) => {
    const [draft, ...others] = draftsOf(readQuietly(words, language));
    if (!draft || others.length > 0) return false;
    // In a list of actions a check is an action.
    const type = body.type === "action" && draft.type === "verification" ? "action" : draft.type;
    return isDeepStrictEqual({ ...withoutEmpty(draft), type }, body);
  };
  return candidatesOf(body).find(isMeant);
}

/** A block without arguments has no `params`. */
export function withoutEmpty(body: Body): Body {
  const { params, ...rest } = body;
  return isFields(params) && Object.keys(params).length === 0 ? rest : body;
}

/** Possible words. Reading them shows whether they fit. */
function candidatesOf(body: Body): string[] {
  const { type, command, params = {}, negate, timeout_ms } = body;
  if (type === "navigation") return [`go to ${String(body.target)}`, `go to ${quoted(body.target)}`];
  if (type === "call_testcase") return [`call test ${String(body.testcase)}`];
  if (type === "sleep") return [`wait${timeOf(body.duration_ms)}`];
  if (typeof command !== "string" || !isFields(params)) return [];
  const { expect_status, ...others } = params;
  const answer = expect_status === undefined ? "" : ` expecting status ${String(expect_status)}`;
  const words = (commandWords[command]?.(others) ?? []).map((said) => `${said}${answer}`);
  return [...words, ...checkWords(command, params, negate === true, timeout_ms)];
}

/** In quotes that the text does not hold; a text with both kinds gives words that mean something else. */
const quoted = (value: unknown) =>
  String(value).includes('"') ? `'${String(value)}'` : `"${String(value)}"`;

function timeOf(ms: unknown): string {
  return typeof ms === "number" && ms % 1_000 === 0 ? ` ${ms / 1_000} s` : ` ${String(ms)} ms`;
}

const on = (verb: string) => (params: Params) => [`${verb} ${quoted(params.selector)}`];

const commandWords: Readonly<Record<string, (params: Params) => string[]>> = {
  click_element: on("click"),
  double_click: on("double click"),
  right_click: on("right click"),
  hover_element: on("hover over"),
  scroll_to_element: on("scroll to"),
  input_text: ({ selector, text }) =>
    text === "" ? [`clear ${quoted(selector)}`] : [`type ${quoted(text)} into ${quoted(selector)}`],
  type_text: ({ text }) => [`type ${quoted(text)}`],
  press_key: ({ key }) => [`press ${String(key)}`],
  select_option: ({ selector, option }) => [`select ${quoted(option)} from ${quoted(selector)}`],
  set_checked: ({ selector, checked }) => [`${checked === true ? "tick" : "untick"} ${quoted(selector)}`],
  upload_file: ({ selector, files }) => [
    `upload ${quoted(Array.isArray(files) ? files[0] : undefined)} to ${quoted(selector)}`,
  ],
  drag_and_drop: ({ selector, to_selector }) => [`drag ${quoted(selector)} to ${quoted(to_selector)}`],
  navigate_to_url: ({ url }) => [`open ${String(url)}`],
  reload: () => ["reload the page"],
  scroll: ({ direction }) => [
    direction === "top" || direction === "bottom"
      ? `scroll to the ${direction}`
      : `scroll ${String(direction)}`,
  ],
};

const states: Readonly<Record<string, readonly [holds: string, holdsNot: string]>> = {
  element_visible: ["shown", "not shown"],
  element_hidden: ["hidden", "not hidden"],
  element_enabled: ["enabled", "disabled"],
  element_checked: ["checked", "not checked"],
  element_focused: ["focused", "not focused"],
};

function checkWords(command: string, params: Params, negate: boolean, timeout: unknown): string[] {
  const name = quoted(params.selector);
  const text = quoted(params.text);
  const state =
    command === "element_state"
      ? `${negate ? "not " : ""}${String(params.state)}`
      : states[command]?.[negate ? 1 : 0];
  if (timeout !== undefined) {
    const end = timeout === 30_000 ? "" : ` for${timeOf(timeout)}`;
    return [`wait for text ${text}${end}`, `wait for ${name}${end}`, `wait until ${name} is ${state}${end}`];
  }
  if (state !== undefined) return [`check ${name} is ${state}`];
  return (othersSaid[command] ?? (() => []))(params, negate, name);
}

const othersSaid: Readonly<Record<string, (params: Params, negate: boolean, name: string) => string[]>> = {
  text_visible: ({ text }, negate) => [`check text ${quoted(text)}${negate ? " is not shown" : ""}`],
  title_matches: ({ title }) => [`check the title is ${quoted(title)}`],
  url_matches: ({ url }) => [`check the url has ${quoted(url)}`],
  element_count: ({ count }, _, name) => [`check there are ${String(count)} ${name}`],
  element_text: ({ text }, _, name) => [`check ${name} has text ${quoted(text)}`],
  element_value: ({ value }, negate, name) =>
    value === ""
      ? [`check ${name} is ${negate ? "not " : ""}empty`]
      : [`check ${name} has value ${quoted(value)}`],
};
