import type { InpageClicks } from "./inpageClicks.ts";
import type { InpageDom } from "./inpageDom.ts";
import type { InpageNames } from "./inpageNames.ts";
import type { InpageQuery, PageQuery } from "./inpageQuery.ts";
import type { InpageRoles } from "./inpageRoles.ts";

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
};

export type HeldField = { before: FieldFacts; now: FieldFacts };

/** Reads fields back after something was done to them. Runs inside the page. */
export class InpageFields {
  private noted:
    | { token: number; element: Element; query: PageQuery | undefined; before: FieldFacts }
    | undefined;

  constructor(
    private readonly dom: InpageDom,
    private readonly roles: InpageRoles,
    private readonly names: InpageNames,
    private readonly clicks: InpageClicks,
    private readonly query: InpageQuery,
  ) {}

  /** Notes the field that will be acted on. */
  note(element: Element, token: number, query?: PageQuery): FieldFacts {
    this.dom.begin();
    const field = this.fieldOf(element);
    const before = this.facts(field);
    this.noted = { token, element: field, query, before };
    return before;
  }

  /** The field that has the focus in this frame; null without one. */
  noteFocused(token: number): FieldFacts | null {
    const active = this.focused();
    if (!document.hasFocus() || !active || /^(body|iframe|frame)$/.test(active.localName)) return null;
    return this.note(active, token);
  }

  focused(): Element | null {
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    return active;
  }

  /**
   * What the noted field holds now. Null when it was not noted here or is gone. A field that was drawn anew is found again as
   * it was found before.
   */
  held(token: number): HeldField | null {
    if (this.noted?.token !== token) return null;
    this.dom.begin();
    const { element, query, before } = this.noted;
    const field = element.isConnected ? element : this.again(element, query);
    return field ? { before, now: this.facts(field) } : null;
  }

  private again(gone: Element, query: PageQuery | undefined): Element | undefined {
    const name = gone.getAttribute("name");
    const twins = [
      gone.id === "" ? [] : this.dom.select(`[id="${CSS.escape(gone.id)}"]`),
      query === undefined || query.kind === "ref" ? [] : this.query.meant(query).elements,
      name ? this.dom.select(`${gone.localName}[name="${CSS.escape(name)}"]`) : [],
    ];
    const [twin] = twins.find((found) => found.length === 1) ?? [];
    return twin && this.fieldOf(twin);
  }

  private fieldOf(element: Element): Element {
    const field =
      element instanceof HTMLLabelElement ? (element.control ?? element) : this.clicks.field(element);
    if (!(field instanceof HTMLElement) || !field.isContentEditable) return field;
    let host = field;
    while (host.parentElement?.isContentEditable) host = host.parentElement;
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
      readOnly: (isText && field.readOnly) || field.closest("[aria-readonly='true']") !== null,
      disabled: field.matches(":disabled") || field.closest("[aria-disabled='true']") !== null,
      secret: field.matches("input[type=password]"),
      seen: this.dom.seen(field),
    };
  }

  private chosen(field: Element): FieldFacts["chosen"] {
    const options = field instanceof HTMLSelectElement ? [...field.selectedOptions] : [];
    return options.map(({ label, value }) => ({ label, value }));
  }

  private limits(field: Element): FieldFacts["limits"] {
    const said = (name: string) => field.getAttribute(name) ?? "";
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
    return field instanceof HTMLElement && field.isContentEditable ? "rich" : "none";
  }

  /** Boxes for one character each are one field to a user. */
  private textOf(field: HTMLInputElement | HTMLTextAreaElement): string {
    if (field.maxLength !== 1) return field.value;
    const boxes = "input[maxlength='1']";
    const group = field.parentElement?.parentElement?.querySelectorAll<HTMLInputElement>(boxes) ?? [];
    return group.length > 1 ? [...group].map(({ value }) => value).join("") : field.value;
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
      if (!parent || /^(body|form|main|html)$/.test(parent.localName)) break;
      at = parent;
    }
    return at === field ? "" : this.names.text(at).slice(0, 2000);
  }
}
