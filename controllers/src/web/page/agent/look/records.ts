import type { InpageClicks } from "../names/clicks.ts";
import type { InpageFacts } from "../names/facts.ts";
import type { InpageRoles } from "../names/roles.ts";
import type { InpageDom } from "../tree/dom.ts";
import type { InpageRefs } from "./refs.ts";

/** An element as the page tells of it; `box` is x, y, width, height in CSS pixels of its own frame's viewport. */
export type SeenElement = {
  ref: string;
  role: string;
  name: string;
  text?: string;
  value?: string;
  choices?: string[];
  moreChoices?: number;
  headers?: string;
  about?: string[];
  apart?: string;
  states: string[];
  box: [number, number, number, number];
  depth: number;
  interactive: boolean;
};

/** What a look tells of one element. Runs inside the page. */
export class InpageRecords {
  /** A look carries so many choices of lists. */
  private readonly mostChoices = 5_000;
  private choicesLeft = 0;

  constructor(
    private readonly dom: InpageDom,
    private readonly roles: InpageRoles,
    private readonly clicks: InpageClicks,
    private readonly facts: InpageFacts,
    private readonly refs: InpageRefs,
  ) {}

  begin(): void {
    this.choicesLeft = this.mostChoices;
  }

  element(element: Element, role: string, name: string, interactive: boolean, depth: number): SeenElement {
    const seen = this.context(element, role, name, depth);
    const field = this.clicks.field(element);
    seen.interactive = interactive;
    seen.states = this.roles.states(field);
    const value = interactive || /^(progressbar|meter)$/.test(role) ? this.roles.value(field) : undefined;
    if (value) seen.value = this.dom.cut(this.dom.clean(value), 200);
    const choices = this.choices(element);
    if (choices) seen.choices = choices.shown;
    if (choices && choices.more > 0) seen.moreChoices = choices.more;
    return seen;
  }

  /** Something that is only there to tell what others are. */
  context(element: Element, role: string, name: string, depth: number): SeenElement {
    const { x, y, width, height } = this.dom.box(element);
    return {
      ref: this.refs.of(element),
      role,
      name,
      states: [],
      box: [Math.round(x), Math.round(y), Math.round(width), Math.round(height)],
      depth,
      interactive: false,
    };
  }

  /** Labels of a list that the browser opens, or suggests to a field. */
  private choices(element: Element): { shown: string[]; more: number } | undefined {
    const list = element instanceof HTMLInputElement ? element.list : element;
    const isList = list instanceof HTMLSelectElement || list instanceof HTMLDataListElement;
    if (!isList || list.options.length === 0) return undefined;
    const options = [...list.options].slice(0, this.choicesLeft);
    this.choicesLeft -= options.length;
    const shown = options.map((option) => this.dom.cut(this.dom.clean(option.label || option.value), 100));
    return { shown, more: list.options.length - shown.length };
  }

  /** What a thing to press takes, and the words beside it that its name lacks. */
  addFacts(element: Element, seen: SeenElement, told: { derived: boolean; guessed: boolean }): void {
    const { role, name, states } = seen;
    const beside = this.facts.beside(element, role, name, told.derived && !told.guessed);
    const about = [
      ...(told.guessed ? ["(label guessed)"] : []),
      ...this.facts.of(this.clicks.field(element), role, name, states),
      ...(beside === "" ? [] : [beside]),
    ];
    if (about.length > 0) seen.about = about;
  }
}
