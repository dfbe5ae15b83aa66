import type { Candidate } from "../../../elements/ranking.ts";
import type { States } from "../../../elements/stateTable.ts";
import type { TextMatch, TextMatcher } from "../../../elements/text.ts";
import type { FieldFacts, HeldField, InpageFields } from "./fields.ts";
import type { InpageApart } from "./look/apart.ts";
import type { InpageRefs } from "./look/refs.ts";
import type { InpageWalk, LookOptions, SeenPage } from "./look/walk.ts";
import type { InpageClicks } from "./names/clicks.ts";
import type { InpageNames } from "./names/names.ts";
import type { InpageRoles } from "./names/roles.ts";
import type { InpageQuery, PageQuery } from "./query.ts";
import type { InpageSelectors } from "./selectors.ts";
import type { InpageDom } from "./tree/dom.ts";
import type { InpageLists } from "./tree/lists.ts";
import { native } from "./tree/native.ts";
import type { InpagePoint, Point } from "./tree/point.ts";
import type { InpageReceiver } from "./tree/receiver.ts";
import type { InpageUnread } from "./tree/unread.ts";
import type { InpageWorld } from "./tree/world.ts";

/** An element as a check or an error message needs it. `visible` is what a user would say. */
export type Description = {
  /** Where refs were asked for, and what tells it from others that match. */
  ref?: string;
  apart?: string;
  role: string;
  name: string;
  text: string;
  /** The text as it stands on the screen, where the whole was asked for. */
  shown?: string;
  value?: string;
  visible: boolean;
  /** Those that it can be in, where they were asked for. */
  states?: States;
  attribute?: string;
  candidates: Candidate[];
};

/**
 * `count` leaves out invisible matches where there are visible ones; `hidden` says how many those are. `isCased`: all matches
 * have exactly the case that was asked for.
 */
export type Matches = {
  count: number;
  hidden: number;
  isCased: boolean;
  first: Description[];
  /** The number of the next ref, where refs were asked for. */
  next?: number;
};

export type DescribeOptions = {
  limit: number;
  attribute?: string;
  selectors: boolean;
  testIdAttribute: string;
  /** Texts as they stand on the screen, whole. */
  whole?: boolean;
  /** Every match, and not only those that are meant because their case is right. */
  all?: boolean;
  states?: boolean;
  /** Gives each a ref of this frame: see {@link LookOptions}. */
  refs?: Pick<LookOptions, "prefix" | "next">;
  /** The page has no other frame. */
  isAlone?: boolean;
};

/** Where a child frame lies in its parent: its element's ref, and the offset of its contents. */
export type FramePlace = { ref: string; x: number; y: number; seen: boolean };

type Parts = {
  dom: InpageDom;
  world: InpageWorld;
  roles: InpageRoles;
  names: InpageNames;
  clicks: InpageClicks;
  refs: InpageRefs;
  walk: InpageWalk;
  apart: InpageApart;
  query: InpageQuery;
  selectors: InpageSelectors;
  fields: InpageFields;
  point: InpagePoint;
  receiver: InpageReceiver;
  unread: InpageUnread;
  lists: InpageLists;
  texts: TextMatcher;
};

/** What the host may ask of a document. Runs inside the page, in a world that the page's scripts do not reach. */
export class InpageAgent {
  private readonly dom: InpageDom;
  private readonly world: InpageWorld;
  private readonly roles: InpageRoles;
  private readonly names: InpageNames;
  private readonly clicks: InpageClicks;
  private readonly refs: InpageRefs;
  private readonly walk: InpageWalk;
  private readonly apart: InpageApart;
  private readonly query: InpageQuery;
  private readonly selectors: InpageSelectors;
  private readonly fields: InpageFields;
  private readonly point: InpagePoint;
  private readonly receiver: InpageReceiver;
  private readonly unread: InpageUnread;
  private readonly lists: InpageLists;
  private readonly texts: TextMatcher;
  /** What another engine found, one by one, until it is asked for. */
  private readonly gathered = new Map<number, Element[]>();

  constructor(parts: Parts) {
    this.dom = parts.dom;
    this.world = parts.world;
    this.roles = parts.roles;
    this.names = parts.names;
    this.clicks = parts.clicks;
    this.refs = parts.refs;
    this.walk = parts.walk;
    this.apart = parts.apart;
    this.query = parts.query;
    this.selectors = parts.selectors;
    this.fields = parts.fields;
    this.point = parts.point;
    this.receiver = parts.receiver;
    this.unread = parts.unread;
    this.lists = parts.lists;
    this.texts = parts.texts;
  }

  /** Elements below `root` that a query means. */
  below(root: Document | Element | ShadowRoot, query: PageQuery): readonly Element[] {
    this.begin();
    return this.query.findBelow(query, root);
  }

  gather(element: Element, token: number): void {
    const elements = this.gathered.get(token);
    if (elements) elements.push(element);
    else this.gathered.set(token, [element]);
  }

  private begin(): void {
    this.dom.begin();
    this.world.begin();
  }

  /** `unread`: what is shown and cannot be read. */
  look(options: LookOptions): SeenPage & { unread: string[] } {
    this.begin();
    return { ...this.walk.look(options), unread: this.unread.list() };
  }

  isAlive(ref: string): boolean {
    this.begin();
    return this.refs.element(ref) !== undefined;
  }

  /**
   * Fills the one text field that a query means, if it is ready now: what Playwright's `fill` waits for and does. `selected`:
   * all but the typing, since the page listens to more than the editing command tells. `inert`: it looks ready and cannot
   * take the focus. `other`, and nothing done, in every other case.
   */
  fill(query: PageQuery, text: string, token = 0): "filled" | "selected" | "inert" | "other" {
    this.begin();
    const [field, ...others] = this.query.meant(query).elements;
    if (field === undefined || others.length > 0 || text === "" || !this.isReadyField(field)) return "other";
    this.fields.note(field, token, query);
    field.select();
    field.focus();
    const root = field.getRootNode();
    const isFocused =
      (root instanceof Document || root instanceof ShadowRoot) && native.activeElement(root) === field;
    if (!isFocused) return "inert";
    if (this.world.mayHearTyping(field)) return "selected";
    return native.execCommand("insertText", text) ? "filled" : "selected";
  }

  /**
   * Where the one element that a query means can be clicked now: what Playwright's `click` waits for. Null where it cannot.
   * The click that follows reaches this element or none; {@link pressTakenBy} says which.
   */
  async clickPoint(query: PageQuery): Promise<Point | null> {
    this.begin();
    const [element, ...others] = this.query.meant(query).elements;
    if (element === undefined || others.length > 0) return null;
    const point = await this.point.ready(element);
    if (point) this.receiver.expect(element, 1, true);
    return point;
  }

  expectPresses(element: Element, presses: number): void {
    this.receiver.expect(element, presses, false);
  }

  /** The start tag of what received a press that was expected elsewhere; null where that is not so. */
  pressTakenBy(): string | null {
    const element = this.receiver.end();
    return element && this.tagOf(element);
  }

  private tagOf(element: Element): string {
    const tag = native.localName(element);
    const said = ["id", "class"].flatMap((name) => {
      const value = native.getAttribute(element, name);
      return value ? [` ${name}="${this.dom.cut(value, 60)}"`] : [];
    });
    return `<${tag}${said.join("")}>`;
  }

  noteField(element: Element, token: number, query: PageQuery | null): FieldFacts {
    this.begin();
    return this.fields.note(element, token, query ?? undefined);
  }

  noteFocused(token: number): FieldFacts | null {
    this.begin();
    return this.fields.noteFocused(token);
  }

  heldFields(tokens: readonly number[]): HeldField[] {
    this.begin();
    return this.fields.held(tokens);
  }

  findLists(): string[] {
    this.begin();
    return this.lists.find();
  }

  scrollList(...asked: Parameters<InpageLists["scroll"]>): boolean {
    return this.lists.scroll(...asked);
  }

  private isReadyField(element: Element): element is HTMLInputElement | HTMLTextAreaElement {
    const isField =
      element instanceof HTMLTextAreaElement ||
      (element instanceof HTMLInputElement && /^(text|email|password|search|tel|url)$/.test(element.type));
    if (!isField || element.readOnly || element.matches(":disabled")) return false;
    if (element.closest("[aria-disabled='true'],[aria-readonly='true'],[inert]")) return false;
    return this.dom.rendered(element) && this.dom.hasArea(element);
  }

  framePlace(frame: Element): FramePlace {
    this.begin();
    const box = native.getBoundingClientRect(frame);
    const style = this.dom.style(frame);
    return {
      ref: this.refs.of(frame),
      x: box.x + native.clientLeft(frame) + Number.parseFloat(style.paddingLeft),
      y: box.y + native.clientTop(frame) + Number.parseFloat(style.paddingTop),
      seen: this.dom.seen(frame),
    };
  }

  find(query: PageQuery, options: DescribeOptions): Matches {
    this.begin();
    if (options.all) return this.described(this.query.find(query), { hidden: 0, isCased: false }, options);
    const { elements, isCased } = this.query.meant(query, options.isAlone);
    return this.described(elements, { hidden: 0, isCased }, options);
  }

  /** Describes what another engine found and gathered, by the same rule: visible matches first. */
  describeGathered(token: number, options: DescribeOptions): Matches {
    const elements = this.gathered.get(token) ?? [];
    this.gathered.delete(token);
    return this.describe(elements, options);
  }

  describeElement(element: Element, options: DescribeOptions): Description | undefined {
    return this.describe([element], options).first[0];
  }

  private describe(all: readonly Element[], options: DescribeOptions): Matches {
    this.begin();
    const elements = this.query.preferVisible(all);
    const hidden = all.length - elements.length;
    return this.described(elements, { hidden, isCased: false }, options);
  }

  private described(
    elements: readonly Element[],
    known: { hidden: number; isCased: boolean },
    options: DescribeOptions,
  ): Matches {
    const first = elements.slice(0, options.limit);
    const candidates = options.selectors ? this.selectors.rank(first, options.testIdAttribute) : [];
    const described = first.map((element, at) => this.describeOne(element, options, candidates[at] ?? []));
    const found = { count: elements.length, ...known, first: described };
    return options.refs ? this.withRefs(found, first, options.refs, options.testIdAttribute) : found;
  }

  private withRefs(
    found: Matches,
    elements: readonly Element[],
    { prefix, next }: Pick<LookOptions, "prefix" | "next">,
    testIdAttribute: string,
  ): Matches {
    this.refs.begin(prefix, next);
    const signs = this.apart.signs(elements, found.first[0]?.name ?? "", testIdAttribute);
    const first = elements.flatMap((element, at) => {
      const described = found.first[at];
      return described ? [{ ...described, ref: this.refs.of(element), apart: signs[at] ?? "" }] : [];
    });
    return { ...found, first, next: this.refs.next };
  }

  private describeOne(
    element: Element,
    { attribute, whole, states }: DescribeOptions,
    candidates: Candidate[],
  ): Description {
    const role = this.clicks.role(element);
    const field = this.clicks.field(element);
    const value = this.roles.value(field);
    const said = attribute === undefined ? null : native.getAttribute(element, attribute);
    const isField = native.matches(element, "input,select,textarea");
    return {
      role,
      name: this.names.name(element, role).name,
      text: isField ? "" : this.names.text(element),
      ...(whole ? { shown: isField ? "" : this.names.shown(element) } : {}),
      ...(value === undefined ? {} : { value }),
      visible: this.dom.seen(element),
      ...(states && { states: this.statesOf(element) }),
      ...(said === null ? {} : { attribute: said }),
      candidates,
    };
  }

  /** Of the field that a label is for, where the element is in one. */
  private statesOf(element: Element): States {
    const labelled = this.roles.isFocusable(element) ? null : native.closest(element, "label")?.control;
    const field = labelled ?? this.clicks.field(element);
    return this.roles.statesOf(field, this.clicks.role(field));
  }

  /** Ranked candidates for refs, in their order; empty for one that is gone. */
  rank(refs: readonly string[], testIdAttribute: string): Candidate[][] {
    this.begin();
    return this.selectors.rank(
      refs.map((ref) => this.refs.element(ref)),
      testIdAttribute,
    );
  }

  counts(queries: readonly (PageQuery | { kind: "xpath"; xpath: string })[]): number[] {
    this.begin();
    return queries.map((query) =>
      query.kind === "xpath"
        ? this.selectors.countXpath(query.xpath)
        : this.query.find(this.query.cased(query) ?? query).length,
    );
  }

  /** Names to choose the nearest from. */
  onScreen(limit: number): { role: string; name: string }[] {
    this.begin();
    return this.query.namesOnScreen(limit).map(({ role, name }) => ({ role, name: this.dom.cut(name, 120) }));
  }

  /**
   * Whether a text can be read on the page: the line that has it, or as much as was asked for where it goes over several; the
   * page's lines where it cannot, at most 400.
   */
  readText(wanted: TextMatch): { found?: string; lines: string[]; unread: string[] } {
    this.begin();
    const lines = this.query.pageText(1_000_000, "glued");
    const found =
      this.foundIn(lines, wanted) ?? this.foundIn(this.query.pageText(1_000_000, "apart"), wanted);
    if (found !== undefined) return { found, lines: [], unread: [] };
    return { lines: lines.slice(0, 400).map((one) => this.short(one)), unread: this.unread.list() };
  }

  private foundIn(lines: readonly string[], wanted: TextMatch): string | undefined {
    const line = lines.find((one) => this.texts.holds(wanted, one));
    if (line !== undefined) return line;
    const mayGoOver = !/^(same|exact)$/.test(wanted.match);
    return mayGoOver && this.texts.holds(wanted, lines.join(" ")) ? wanted.text : undefined;
  }

  private short(line: string): string {
    return line.length > 300 ? `${line.slice(0, 300)} … ${line.length - 300} more` : line;
  }
}
