/**
 * What the agent may answer, by question. The browser may be one that we did not start, so an answer is parsed. The agent itself
 * imports only the types, so that no page gets zod. `askAgent` bounds the size.
 */
import { z } from "zod";
import { selectorKinds } from "../../../contract.ts";
import { stateNames } from "../../../elements/stateTable.ts";

const count = z.int().nonnegative();
const nothing = z.null();
const texts = z.array(z.string());
const ref = z.string().regex(/^(?:f\d+)?e\d+$/);
const point = z.object({ x: z.number(), y: z.number() });
/** `selected`: all but the typing is done. */
const filling = z.enum(["filled", "selected", "inert", "other"]);

export const candidateSchema = z.object({
  kind: z.enum(selectorKinds),
  /** The value after `kind=`, before escaping; for a role its name. */
  value: z.string(),
  role: z.string().exactOptional(),
  /** How many elements it matches. */
  count,
  score: z.number().min(0).max(1),
});

/** An element as checks and error messages need it. `visible`: a user can see it. */
const description = z.object({
  /** `ref` and `apart`, which distinguishes it from other matches, are set where refs were asked for. */
  ref: ref.exactOptional(),
  apart: z.string().exactOptional(),
  role: z.string(),
  name: z.string(),
  text: z.string(),
  /** The whole text as it stands on the screen, if asked for. */
  shown: z.string().exactOptional(),
  value: z.string().exactOptional(),
  visible: z.boolean(),
  /** The states that it can be in, if asked for. */
  states: z.partialRecord(z.enum(stateNames), z.union([z.boolean(), z.literal("mixed")])).exactOptional(),
  attribute: z.string().exactOptional(),
  candidates: z.array(candidateSchema),
});
export type Description = z.output<typeof description>;

/**
 * If some matches are visible, `count` leaves out the others, and `hidden` is how many. `isCased`: all matches have exactly the
 * case that was asked for.
 */
const matches = z.object({
  count,
  hidden: count,
  isCased: z.boolean(),
  first: z.array(description),
  /** The number of the next ref, if refs were asked for. */
  next: count.exactOptional(),
});
export type Matches = z.output<typeof matches>;

/** Where a child frame lies in its parent: its element's ref, if it has one, and the offset of its contents. */
const framePlace = z.object({ ref: ref.exactOptional(), x: z.number(), y: z.number(), seen: z.boolean() });
export type FramePlace = z.output<typeof framePlace>;

/** `box`: x, y, width, height in CSS pixels of the frame's own viewport. */
const seenElement = z.object({
  ref,
  role: z.string(),
  name: z.string(),
  text: z.string().exactOptional(),
  value: z.string().exactOptional(),
  choices: texts.exactOptional(),
  moreChoices: count.exactOptional(),
  headers: z.string().exactOptional(),
  about: texts.exactOptional(),
  apart: z.string().exactOptional(),
  states: texts,
  box: z.tuple([z.int(), z.int(), count, count]),
  depth: count,
  interactive: z.boolean(),
});
export type SeenElement = z.output<typeof seenElement>;

const seenPage = z.object({
  elements: z.array(seenElement),
  /** The first texts of a page without elements. */
  first: z.array(seenElement),
  texts: z.object({
    /** Texts that are new, or differ from the previous snapshot. */
    changed: z.array(z.object({ seen: seenElement, was: z.string() })),
    /** How many more may have changed. */
    more: count,
    /** Texts of the previous snapshot that are no longer there. */
    gone: texts,
    /** Texts that appeared after the previous snapshot and are gone again. */
    passed: texts,
  }),
  next: count,
  title: z.string(),
  url: z.string(),
  read: count,
  total: count,
  cut: z.boolean(),
  /** Size of the viewport, in CSS pixels. */
  width: count,
  height: count,
  /** Kinds of content that are shown but cannot be read. */
  unread: texts,
});
export type SeenPage = z.output<typeof seenPage>;

/** What a field holds and accepts. */
const fieldFacts = z.object({
  /** The `type` of an input; `textarea`, `select`, `rich` for editable content, `none` for what holds nothing. */
  type: z.string(),
  value: z.string(),
  checked: z.boolean(),
  /** Labels and values of what is chosen in a select. */
  chosen: z.array(z.object({ label: z.string(), value: z.string() })),
  /** The words around the field: some fields turn what was typed into an item next to them. */
  around: z.string(),
  /** Length of the selected end of the value, which the page has completed. */
  completed: count,
  /** Start and end of the selection, if the browser says. */
  caret: z.tuple([count, count]).exactOptional(),
  locale: z.string(),
  /** As the page gives them; empty if it does not. */
  limits: z.object({
    min: z.string(),
    max: z.string(),
    step: z.string(),
    maxLength: z.int().min(-1),
    pattern: z.string(),
    placeholder: z.string(),
  }),
  readOnly: z.boolean(),
  disabled: z.boolean(),
  secret: z.boolean(),
  /** Of the field's document; `null` for one without an address. */
  origin: z.string(),
  /** A user sees this field. Editors keep a hidden one that they empty at each key. */
  seen: z.boolean(),
  /** The page may listen to input into the field. */
  heard: z.boolean(),
});
export type FieldFacts = z.output<typeof fieldFacts>;

const heldField = z.object({ token: count, before: fieldFacts, now: fieldFacts });
export type HeldField = z.output<typeof heldField>;

/** Only what stands here can be asked. */
export const answers = {
  snapshot: seenPage,
  isAlive: z.boolean(),
  fill: filling,
  clickPoint: point.nullable(),
  expectPresses: nothing,
  pressTakenBy: z.string().nullable(),
  noteField: fieldFacts,
  noteFocused: fieldFacts.nullable(),
  fillSecret: z.enum([...filling.options, "moved"]),
  focusedPlace: z.object({ origin: z.string(), isPassword: z.boolean() }).nullable(),
  typeCharacter: z.boolean(),
  coverSecrets: nothing,
  heldFields: z.array(heldField),
  findLists: texts,
  scrollList: z.boolean(),
  framePlace,
  coverOf: z.string(),
  find: matches,
  textsOf: texts,
  describeGathered: matches,
  describeElement: description.nullable(),
  rank: z.array(z.array(candidateSchema)),
  counts: z.array(count),
  onScreen: z.array(z.object({ role: z.string(), name: z.string() })),
  readText: z.object({ found: z.string().exactOptional(), lines: texts, unread: texts }),
  pageTexts: z.object({ glued: texts, apart: texts, unread: texts }),
};
