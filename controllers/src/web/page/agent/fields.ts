import type { InpageClicks } from "./names/clicks.ts";
import type { InpageNames } from "./names/names.ts";
import type { InpageRoles } from "./names/roles.ts";
import type { InpageQuery, PageQuery } from "./query.ts";
import type { InpageDom } from "./tree/dom.ts";
import { native } from "./tree/native.ts";
import type { InpageWorld } from "./tree/world.ts";

/** What a field holds, and what it takes. */
export type FieldFacts = {
  /** The `type` of an input; `textarea`, `select`, `rich` for editable content, `none` for what holds nothing. */
  type: string;
  value: string;
  checked: boolean;
  /** Labels and values of what is chosen in a select. */
  chosen: { label: string; value: string }[];
  /** The words around the field: some fields turn what was typed into a thing of its own beside them. */
  around: string;
  /** The end of the value is selected: what the page has completed. */
  completed: number;
  /** Where the selection begins and ends; absent where the browser does not say. */
  caret?: [number, number];
  locale: string;
  /** As the page says it; empty where it does not. */
  limits: { min: string; max: string; step: string; maxLength: number; pattern: string; placeholder: string };
  readOnly: boolean;
  disabled: boolean;
  secret: boolean;
  /** A user sees this field. Editors keep an unseen one that they empty at each key. */
  seen: boolean;
  /** The page may hear of an input into the field. */
  heard: boolean;
};

export type HeldField = { token: number; before: FieldFacts; now: FieldFacts };
type NotedField = { element: Element; query: PageQuery | undefined; before: FieldFacts };

const MOST_NOTED = 30;

/** Reads fields back after something was done to them. Runs inside the page. */
export class InpageFields {
  private readonly noted = new Map<number, NotedField>();

  constructor(
    private readonly dom: InpageDom,
    private readonly roles: InpageRoles,
    private readonly names: InpageNames,
    private readonly clicks: InpageClicks,
    private readonly query: InpageQuery,
    private readonly world: InpageWorld,
  ) {}

  /** Notes the field that will be acted on. */
  note(element: Element, token: number, query?: PageQuery): FieldFacts {
    this.dom.begin();
    const field = this.fieldOf(element);
    const before = this.facts(field);
    this.noted.set(token, { element: field, query, before });
    const [oldest] = this.noted.keys();
    if (oldest !== undefined && this.noted.size > MOST_NOTED) this.noted.delete(oldest);
    return before;
  }

  /** The field that has the focus in this frame; null without one. */
  noteFocused(token: number): FieldFacts | null {
    const active = this.focused();
    if (!native.hasFocus() || !active || /^(body|iframe|frame)$/.test(native.localName(active))) return null;
    return this.note(active, token);
  }

  private activeIn(host: Element): Element | null {
    const shadow = native.shadowRoot(host);
    return shadow && native.activeElement(shadow);
  }

  focused(): Element | null {
    let active = native.activeElement(document);
    for (let at = active; at; at = this.activeIn(at)) active = at;
    return active;
  }

  /**
   * What noted fields hold now, without those that were not noted here or are gone. A field that was drawn anew is found again as
   * it was found before.
   */
  held(tokens: readonly number[]): HeldField[] {
    this.dom.begin();
    return tokens.flatMap((token) => {
      const noted = this.noted.get(token);
      const field = noted && (native.isConnected(noted.element) ? noted.element : this.again(noted));
      return field ? { token, before: noted.before, now: this.facts(field) } : [];
    });
  }

  private again({ element: gone, query }: NotedField): Element | undefined {
    const name = native.getAttribute(gone, "name");
    const twins = [
      native.id(gone) === "" ? [] : this.dom.select(`[id="${CSS.escape(native.id(gone))}"]`),
      query === undefined || query.kind === "ref" ? [] : this.query.meant(query).elements,
      name ? this.dom.select(`${native.localName(gone)}[name="${CSS.escape(name)}"]`) : [],
    ];
    const [twin] = twins.find((found) => found.length === 1) ?? [];
    return twin && this.fieldOf(twin);
  }

  private fieldOf(element: Element): Element {
    const field =
      element instanceof HTMLLabelElement ? (element.control ?? element) : this.clicks.field(element);
    if (!(field instanceof HTMLElement) || !native.isContentEditable(field)) return field;
    let host = field;
    for (
      let at = native.parentElement(host);
      at && native.isContentEditable(at);
      at = native.parentElement(at)
    )
      host = at;
    return host;
  }

  private facts(field: Element): FieldFacts {
    const isText = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
    return {
      type: this.typeOf(field),
      value: isText ? this.textOf(field) : (this.roles.value(field) ?? ""),
      checked: this.roles.checked(field) === "checked",
      chosen: this.chosen(field),
      around: this.around(field),
      completed: isText ? this.completed(field) : 0,
      ...(isText ? this.caret(field) : {}),
      locale: navigator.language,
      limits: this.limits(field),
      readOnly: (isText && field.readOnly) || native.closest(field, "[aria-readonly='true']") !== null,
      disabled:
        native.matches(field, ":disabled") || native.closest(field, "[aria-disabled='true']") !== null,
      secret: native.matches(field, "input[type=password]"),
      seen: this.dom.seen(field),
      heard: this.world.mayHearInput(field),
    };
  }

  private chosen(field: Element): FieldFacts["chosen"] {
    const options = field instanceof HTMLSelectElement ? [...field.selectedOptions] : [];
    return options.map(({ label, value }) => ({ label, value }));
  }

  private limits(field: Element): FieldFacts["limits"] {
    const said = (name: string) => native.getAttribute(field, name) ?? "";
    const isText = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
    return {
      min: said("min"),
      max: said("max"),
      step: said("step"),
      maxLength: isText ? field.maxLength : -1,
      pattern: said("title") || said("pattern"),
      placeholder: said("placeholder"),
    };
  }

  private typeOf(field: Element): string {
    if (field instanceof HTMLInputElement) return field.type;
    if (field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement) return field.localName;
    return field instanceof HTMLElement && native.isContentEditable(field) ? "rich" : "none";
  }

  /** Boxes for one character each are one field to a user. */
  private textOf(field: HTMLInputElement | HTMLTextAreaElement): string {
    if (field.maxLength !== 1) return field.value;
    const boxes = "input[maxlength='1']";
    const group = this.groupOf(field, boxes);
    return group.length > 1 ? group.map(({ value }) => value).join("") : field.value;
  }

  private groupOf(field: Element, css: string): HTMLInputElement[] {
    const parent = native.parentElement(field);
    const group = parent && native.parentElement(parent);
    const boxes = group ? [...native.querySelectorAll(group, css)] : [];
    return boxes.filter((box) => box instanceof HTMLInputElement);
  }

  private completed(field: HTMLInputElement | HTMLTextAreaElement): number {
    const { selectionStart, selectionEnd, value } = field;
    if (selectionStart === null || selectionStart === 0 || selectionEnd !== value.length) return 0;
    return selectionEnd - selectionStart;
  }

  private caret(field: HTMLInputElement | HTMLTextAreaElement): { caret?: [number, number] } {
    const { selectionStart, selectionEnd } = field;
    return selectionStart === null || selectionEnd === null ? {} : { caret: [selectionStart, selectionEnd] };
  }

  private around(field: Element): string {
    let at = field;
    for (let up = 0; up < 3; up++) {
      const parent = this.dom.parent(at);
      if (!parent || /^(body|form|main|html)$/.test(native.localName(parent))) break;
      at = parent;
    }
    return at === field ? "" : this.names.text(at).slice(0, 2000);
  }
}
