/** The questions that may be asked of a document. Each reads the page anew, out of reach of the page's scripts. */
import type { Candidate } from "../../../elements/ranking.ts";
import type { States } from "../../../elements/stateTable.ts";
import type { Description, FieldFacts, FramePlace, HeldField, Matches, SeenPage } from "./answers.ts";
import * as fields from "./fields.ts";
import * as clicks from "./names/clicks.ts";
import * as names from "./names/names.ts";
import * as roles from "./names/roles.ts";
import * as words from "./names/words.ts";
import type { PageQuery } from "./query.ts";
import * as queries from "./query.ts";
import * as secrets from "./secrets.ts";
import * as selectors from "./selectors.ts";
import * as apart from "./snapshot/apart.ts";
import * as refs from "./snapshot/refs.ts";
import type { SnapshotOptions } from "./snapshot/walk.ts";
import * as walk from "./snapshot/walk.ts";
import * as dom from "./tree/dom.ts";
import * as lists from "./tree/lists.ts";
import { native } from "./tree/native.ts";
import type { Point } from "./tree/point.ts";
import * as points from "./tree/point.ts";
import * as receiver from "./tree/receiver.ts";
import * as sight from "./tree/sight.ts";
import * as unread from "./tree/unread.ts";
import * as world from "./tree/world.ts";

export type DescribeOptions = {
  limit: number;
  attribute?: string;
  selectors: boolean;
  testIdAttribute: string;
  /** Also returns whole texts as they stand on the screen. */
  whole?: boolean;
  /** Every match, also those in another case. */
  all?: boolean;
  states?: boolean;
  /** Gives each match a ref: see {@link SnapshotOptions}. */
  refs?: Pick<SnapshotOptions, "prefix" | "next">;
  /** The page has only this frame. */
  isAlone?: boolean;
};

export { flushTyped, holdSecrets, pointAtElement, watchPerson } from "./person/watch.ts";
export { pageTexts, readText } from "./texts.ts";

/** Elements that another selector engine found, by the token of the search. */
const gathered = new Map<number, Element[]>();

/** Elements below `root` that a query means. */
export function below(root: Document | Element | ShadowRoot, query: PageQuery): readonly Element[] {
  begin();
  return queries.findBelow(query, root);
}

export function gather(element: Element, token: number): void {
  const elements = gathered.get(token);
  if (elements) elements.push(element);
  else gathered.set(token, [element]);
}

function begin(): void {
  dom.begin();
  world.begin();
}

export function snapshot(options: SnapshotOptions): SeenPage {
  begin();
  return { ...walk.snapshot(options), unread: unread.list() };
}

export function isAlive(ref: string): boolean {
  begin();
  return refs.element(ref) !== undefined;
}

/**
 * Fills the one text field that matches, if it is ready now, as Playwright's `fill` does. `selected`: all but the typing is done,
 * since the page listens to events that the editing command does not send. `inert`: the field looks ready but does not take the
 * focus. `other`: nothing was done.
 */
export function fill(query: PageQuery, text: string, token = 0): "filled" | "selected" | "inert" | "other" {
  begin();
  const [field, ...others] = queries.targets(query).elements;
  if (field === undefined || others.length > 0 || text === "" || !isReadyField(field)) return "other";
  fields.note(field, token, query);
  field.select();
  field.focus();
  if (!roles.isFocused(field)) return "inert";
  if (world.mayHearTyping(field)) return "selected";
  return native.execCommand("insertText", text) ? "filled" : "selected";
}

/**
 * Where the one element that matches can be clicked now, by the rules of Playwright's `click`; null if it cannot. The click that
 * follows reaches this element or none; {@link pressTakenBy} says which.
 */
export async function clickPoint(query: PageQuery): Promise<Point | null> {
  begin();
  const [element, ...others] = queries.targets(query).elements;
  if (element === undefined || others.length > 0) return null;
  const point = await points.ready(element);
  if (point) receiver.expect(element, 1, true);
  return point;
}

export function expectPresses(element: Element, presses: number): void {
  receiver.expect(element, presses, false);
}

/** The start tag of the element that received a press expected on another; null if the press arrived. */
export function pressTakenBy(): string | null {
  const element = receiver.end();
  return element && tagOf(element);
}

function tagOf(element: Element): string {
  const tag = native.localName(element);
  const said = ["id", "class"].flatMap((name) => {
    const value = native.getAttribute(element, name);
    return value ? [` ${name}="${dom.cut(value, 60)}"`] : [];
  });
  return `<${tag}${said.join("")}>`;
}

export function noteField(element: Element, token: number, query: PageQuery | null): FieldFacts {
  begin();
  return fields.note(element, token, query ?? undefined);
}

export function noteFocused(token: number): FieldFacts | null {
  begin();
  return fields.noteFocused(token);
}

/**
 * Fills a field with a text that holds a secret, if the document is still of this origin and the field is ready now. Keys would go
 * wherever the page moves the focus; `keys` says that they may, and then `selected` is as in {@link fill}. `moved`: another document
 * is here. `text` is encoded by `Buffer.toString("base64url")`.
 */
export function fillSecret(
  element: Element,
  { text, origin, keys }: { text: string; origin: string; keys: boolean },
): "filled" | "selected" | "moved" | "inert" | "other" {
  begin();
  const field = fields.fieldOf(element);
  if (self.origin !== origin) return "moved";
  const isRich = native.isContentEditable(field);
  if (!isRich && !isReadyField(field, "number")) return "other";
  secrets.remember(secrets.decoded(text));
  secrets.cover(field);
  if (field instanceof HTMLElement) field.focus();
  if (isRich) native.execCommand("selectAll", "");
  else if (isReadyField(field, "number")) field.select();
  if (!roles.isFocused(field)) return "inert";
  if (keys && world.mayHearTyping(field)) return "selected";
  return native.execCommand("insertText", secrets.decoded(text)) ? "filled" : "other";
}

/** Where keys go now, if to this document. What has the focus is covered; while `isTyping`, so is what gets it. */
export function focusedPlace(isTyping: boolean): { origin: string; isPassword: boolean } | null {
  begin();
  const active = fields.withFocus();
  secrets.coverFocused(isTyping);
  if (!active) return null;
  return { origin: self.origin, isPassword: native.matches(fields.fieldOf(active), "input[type=password]") };
}

/**
 * Types one character of a secret where the focus is, if it still is in this document: a key of the browser would go wherever the
 * page has moved it. `text` is encoded as in {@link fillSecret}.
 */
export function typeCharacter(text: string, at: number, origin: string): boolean {
  begin();
  const active = fields.withFocus();
  const key = secrets.decoded(text)[at] ?? "";
  if (!active || self.origin !== origin) return false;
  const options = { key, bubbles: true, cancelable: true, composed: true };
  const isTaken = !native.dispatchEvent(active, new KeyboardEvent("keydown", options));
  if (fields.withFocus() !== active) return isTaken;
  if (!isTaken) native.execCommand("insertText", key);
  native.dispatchEvent(active, new KeyboardEvent("keyup", options));
  return true;
}

/** Covers each field that holds one of these texts, encoded as in {@link fillSecret}, now and later. */
export function coverSecrets(texts: readonly string[], origin: string): void {
  begin();
  if (self.origin === origin) secrets.remember(...texts.map(secrets.decoded));
}

export function heldFields(tokens: readonly number[]): HeldField[] {
  begin();
  return fields.held(tokens);
}

export function findLists(): string[] {
  begin();
  return lists.find();
}

export function scrollList(...asked: Parameters<typeof lists.scroll>): boolean {
  return lists.scroll(...asked);
}

function isReadyField(element: Element, type = ""): element is HTMLInputElement | HTMLTextAreaElement {
  const isField =
    element instanceof HTMLTextAreaElement ||
    (element instanceof HTMLInputElement &&
      (element.type === type || /^(text|email|password|search|tel|url)$/.test(element.type)));
  if (!isField || element.readOnly || element.matches(":disabled")) return false;
  if (element.closest("[aria-disabled='true'],[aria-readonly='true'],[inert]")) return false;
  return sight.rendered(element) && sight.hasArea(element);
}

export function framePlace(frame: Element): FramePlace {
  begin();
  const box = native.getBoundingClientRect(frame);
  const style = dom.style(frame);
  const ref = refs.known(frame);
  return {
    ...(ref === undefined ? {} : { ref }),
    x: box.x + native.clientLeft(frame) + (Number.parseFloat(style.paddingLeft) || 0),
    y: box.y + native.clientTop(frame) + (Number.parseFloat(style.paddingTop) || 0),
    seen: sight.seen(frame),
  };
}

/** Says what covers the element, or its part in `box`, at one of nine points; empty if nothing does. */
export function coverOf(
  element: Element,
  box: { x: number; y: number; width: number; height: number } | null,
): string {
  begin();
  const { x, y, width, height } = box ?? native.getBoundingClientRect(element);
  if (width === 0 || height === 0) return "it is hidden";
  const shares = [0.1, 0.5, 0.9];
  const hits = shares.flatMap((across) =>
    shares.map((down) => dom.hit({ x: x + width * across, y: y + height * down })),
  );
  if (hits.includes(null)) return "a part of it is outside of the window; scroll_to_element first";
  const cover = hits.find((hit) => !dom.isWithin(hit, element));
  if (!cover) return "";
  const classes = [...native.classList(cover)].slice(0, 2).map((name) => `.${name}`);
  const id = native.id(cover);
  return `it is covered by ${[native.localName(cover), id && `#${id}`, ...classes].join("").slice(0, 100)}`;
}

export function find(query: PageQuery, options: DescribeOptions): Matches {
  begin();
  if (options.all) return described(queries.find(query), { hidden: 0, isCased: false }, options);
  const { elements, isCased } = queries.targets(query, options.isAlone);
  return described(elements, { hidden: 0, isCased }, options);
}

/** The different texts, as patterns are compared with, that a query compares with a pattern of this token. */
export function textsOf(query: PageQuery, token: number): string[] {
  begin();
  return queries.textsOf(query, token);
}

/** Describes what another engine found: only visible matches, if there are any. */
export function describeGathered(token: number, options: DescribeOptions): Matches {
  const elements = gathered.get(token) ?? [];
  gathered.delete(token);
  return describe(elements, options);
}

export function describeElement(element: Element, options: DescribeOptions): Description | undefined {
  return describe([element], options).first[0];
}

function describe(all: readonly Element[], options: DescribeOptions): Matches {
  begin();
  const elements = queries.preferVisible(all);
  const hidden = all.length - elements.length;
  return described(elements, { hidden, isCased: false }, options);
}

function described(
  elements: readonly Element[],
  known: { hidden: number; isCased: boolean },
  options: DescribeOptions,
): Matches {
  const first = elements.slice(0, options.limit);
  const candidates = options.selectors ? selectors.rank(first, options.testIdAttribute) : [];
  const described = first.map((element, at) => describeOne(element, options, candidates[at] ?? []));
  const found = { count: elements.length, ...known, first: described };
  return options.refs ? withRefs(found, first, options.refs, options.testIdAttribute) : found;
}

function withRefs(
  found: Matches,
  elements: readonly Element[],
  { prefix, next }: Pick<SnapshotOptions, "prefix" | "next">,
  testIdAttribute: string,
): Matches {
  refs.begin(prefix, next);
  const name = found.first[0]?.name ?? "";
  const signs = apart.signsOf(elements, { name, testIdAttribute, labels: new Set([name]) });
  const first = elements.flatMap((element, at) => {
    const described = found.first[at];
    return described ? [{ ...described, ref: refs.of(element), apart: signs[at] ?? "" }] : [];
  });
  return { ...found, first, next: refs.nextNumber };
}

function describeOne(
  element: Element,
  { attribute, whole, states }: DescribeOptions,
  candidates: Candidate[],
): Description {
  const role = clicks.role(element);
  const field = clicks.fieldOf(element);
  const value = roles.value(field);
  const said = attribute === undefined ? null : native.getAttribute(element, attribute);
  const isField = native.matches(element, "input,select,textarea");
  return {
    role,
    name: names.nameOf(element, role).name,
    text: isField ? "" : words.read(element),
    ...(whole ? { shown: isField ? "" : words.shown(element) } : {}),
    ...(value === undefined ? {} : { value }),
    visible: sight.seen(element),
    ...(states && { states: statesOf(element) }),
    ...(said === null ? {} : { attribute: said }),
    candidates,
  };
}

/** For an element in a label, the states of the label's field. */
function statesOf(element: Element): States {
  const labelled = roles.isFocusable(element) ? null : native.closest(element, "label")?.control;
  const field = labelled ?? clicks.fieldOf(element);
  return roles.statesOf(field, clicks.role(field));
}

/** Ranked selectors for each ref; none for an element that is gone. */
export function rank(wanted: readonly string[], testIdAttribute: string): Candidate[][] {
  begin();
  return selectors.rank(wanted.map(refs.element), testIdAttribute);
}

export function counts(asked: readonly (PageQuery | { kind: "xpath"; xpath: string })[]): number[] {
  begin();
  return asked.map((query) =>
    query.kind === "xpath"
      ? selectors.countXpath(query.xpath)
      : queries.find(queries.cased(query) ?? query).length,
  );
}

export function onScreen(limit: number): { role: string; name: string }[] {
  begin();
  return queries.namesOnScreen(limit).map(({ role, name }) => ({ role, name: dom.cut(name, 120) }));
}

/** In characters. */
const longestAnswer = 10_000_000;

/** A longer answer would fill the memory of who asked: `!` and its length take its place. */
export const bounded = (json: string): string => (json.length > longestAnswer ? `!${json.length}` : json);
