import type { Candidate } from "../elements/ranking.ts";
import type { TextMatch, TextMatcher } from "../elements/text.ts";
import type { InpageClicks } from "./inpageClicks.ts";
import type { InpageDom } from "./inpageDom.ts";
import type { FieldFacts, HeldField, InpageFields } from "./inpageFields.ts";
import type { InpageNames } from "./inpageNames.ts";
import type { InpagePoint, Point } from "./inpagePoint.ts";
import type { InpageQuery, PageQuery } from "./inpageQuery.ts";
import type { InpageRefs } from "./inpageRefs.ts";
import type { InpageRoles } from "./inpageRoles.ts";
import type { InpageSelectors } from "./inpageSelectors.ts";
import type { InpageWalk, LookOptions, SeenPage } from "./inpageWalk.ts";

/** An element as a check or an error message needs it. `visible` is what a user would say, `enabled` what the browser would. */
export type Description = {
  role: string;
  name: string;
  text: string;
  /** The text as it stands on the screen, where the whole was asked for. */
  shown?: string;
  value?: string;
  visible: boolean;
  enabled: boolean;
  checked: boolean;
  focused: boolean;
  attribute?: string;
  candidates: Candidate[];
};

/**
 * `count` leaves out invisible matches where there are visible ones; `hidden` says how many those are. `isCased`: all matches
 * have exactly the case that was asked for.
 */
export type Matches = { count: number; hidden: number; isCased: boolean; first: Description[] };

export type DescribeOptions = {
  limit: number;
  attribute?: string;
  selectors: boolean;
  testIdAttribute: string;
  /** Texts as they stand on the screen, whole. */
  whole?: boolean;
  /** Every match, and not only those that are meant because their case is right. */
  all?: boolean;
  /** The page has no other frame. */
  isAlone?: boolean;
};

/** Where a child frame lies in its parent: its element's ref, and the offset of its contents. */
export type FramePlace = { ref: string; x: number; y: number; seen: boolean };

/** What the host may ask of a page. Runs inside the page. */
export class InpageAgent {
  constructor(
    private readonly dom: InpageDom,
    private readonly roles: InpageRoles,
    private readonly names: InpageNames,
    private readonly clicks: InpageClicks,
    private readonly refs: InpageRefs,
    private readonly walk: InpageWalk,
    private readonly query: InpageQuery,
    private readonly selectors: InpageSelectors,
    private readonly fields: InpageFields,
    private readonly point: InpagePoint,
    private readonly texts: TextMatcher,
    private readonly events: { ask: string; found: string },
  ) {}

  /** The browser's own, taken before a page can put itself in between, as a framework does that redraws after each event. */
  private readonly native = {
    listen: EventTarget.prototype.addEventListener,
    dispatch: EventTarget.prototype.dispatchEvent,
  };

  /** What goes before text that is typed, pasted or composed, and what the browser's own editing command does not send. */
  private readonly beforeTyping = ["beforeinput", "textInput"];

  /**
   * Answers Playwright's engine, which asks from its own world: by an event on each element found. Listened for anew before
   * each use, since `document.open` takes every listener away.
   */
  private readonly answer = (event: Event): void => {
    const root = event.composedPath()[0];
    const isRoot = root instanceof Document || root instanceof Element || root instanceof ShadowRoot;
    if (!isRoot || !(event instanceof CustomEvent)) return;
    this.dom.begin();
    for (const element of this.query.findEncoded(String(event.detail), root))
      Reflect.apply(this.native.dispatch, element, [new CustomEvent(this.events.found, { composed: true })]);
  };

  listen(): void {
    Reflect.apply(this.native.listen, globalThis, [this.events.ask, this.answer, true]);
  }

  private begin(): void {
    this.listen();
    this.dom.begin();
  }

  look(options: LookOptions): SeenPage {
    this.begin();
    return this.walk.look(options);
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
      (root instanceof Document || root instanceof ShadowRoot) && root.activeElement === field;
    if (!isFocused) return "inert";
    if (this.clicks.mayHear(field, this.beforeTyping)) return "selected";
    return document.execCommand("insertText", false, text) ? "filled" : "selected";
  }

  /** Whether the page may hear that a key goes up. */
  mayHearKeyUp(): boolean {
    return this.clicks.mayHear(this.fields.focused(), ["keyup"]);
  }

  /** Where the one element that a query means can be clicked now: what Playwright's `click` waits for. Null where it cannot. */
  async clickPoint(query: PageQuery): Promise<Point | null> {
    this.begin();
    const [element, ...others] = this.query.meant(query).elements;
    return element === undefined || others.length > 0 ? null : this.point.ready(element);
  }

  noteField(element: Element, token: number, query?: PageQuery): FieldFacts {
    this.begin();
    return this.fields.note(element, token, query);
  }

  noteFocused(token: number): FieldFacts | null {
    this.begin();
    return this.fields.noteFocused(token);
  }

  heldField(token: number): HeldField | null {
    this.begin();
    return this.fields.held(token);
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
    const box = frame.getBoundingClientRect();
    const style = this.dom.style(frame);
    return {
      ref: this.refs.of(frame),
      x: box.x + frame.clientLeft + Number.parseFloat(style.paddingLeft),
      y: box.y + frame.clientTop + Number.parseFloat(style.paddingTop),
      seen: this.dom.seen(frame),
    };
  }

  find(query: PageQuery, options: DescribeOptions): Matches {
    this.begin();
    if (options.all) return this.described(this.query.find(query), { hidden: 0, isCased: false }, options);
    const { elements, isCased } = this.query.meant(query, options.isAlone);
    return this.described(elements, { hidden: 0, isCased }, options);
  }

  /** Describes what another engine found, by the same rule: visible matches first. */
  describe(all: readonly Element[], options: DescribeOptions): Matches {
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
    return {
      count: elements.length,
      ...known,
      first: first.map((element, at) => this.describeOne(element, options, candidates[at] ?? [])),
    };
  }

  private describeOne(
    element: Element,
    { attribute, whole }: DescribeOptions,
    candidates: Candidate[],
  ): Description {
    const role = this.clicks.role(element);
    const field = this.clicks.field(element);
    const states = this.roles.states(field);
    const value = this.roles.value(field);
    const said = attribute === undefined ? null : element.getAttribute(attribute);
    const isField = element.matches("input,select,textarea");
    return {
      role,
      name: this.names.name(element, role).name,
      text: isField ? "" : this.names.text(element),
      ...(whole ? { shown: isField ? "" : this.names.shown(element) } : {}),
      ...(value === undefined ? {} : { value }),
      visible: this.dom.seen(element),
      enabled: !states.includes("disabled"),
      checked: this.roles.checked(field) === "checked",
      focused: this.roles.isFocused(field),
      ...(said === null ? {} : { attribute: said }),
      candidates,
    };
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
  readText(wanted: TextMatch): { found: string | undefined; lines: string[] } {
    this.begin();
    const lines = this.query.pageText(1_000_000);
    const line = lines.find((one) => this.texts.holds(wanted, one));
    if (line !== undefined) return { found: line, lines: [] };
    if (!/^(same|exact)$/.test(wanted.match) && this.texts.holds(wanted, lines.join(" ")))
      return { found: wanted.text, lines: [] };
    return { found: undefined, lines: lines.slice(0, 400).map((one) => this.short(one)) };
  }

  private short(line: string): string {
    return line.length > 300 ? `${line.slice(0, 300)} … ${line.length - 300} more` : line;
  }
}
