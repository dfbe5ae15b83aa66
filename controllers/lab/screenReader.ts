import { ambiguous, notFound } from "../src/elements/failures.ts";
import { nearest } from "../src/elements/nearest.ts";
import { findNodes, nodeKinds, nodeSelectors } from "../src/elements/nodes.ts";
import { Refs } from "../src/elements/refs.ts";
import { SelectorGrammar, wantedText } from "../src/elements/selectors.ts";
import type { States } from "../src/elements/stateTable.ts";
import { onlyTarget, type Target } from "../src/elements/target.ts";
import { DeviceError, type Dump, type Element, type ElementSource, type FocusSource } from "../src/index.ts";
import type { Box } from "./box.ts";
import type { Connection } from "./connection.ts";
import { boxSpace, rowRect } from "./picture.ts";
import type { Item } from "./screens.ts";

const grammar = new SelectorGrammar(nodeKinds);

/** Reads the screen of a box as elements, and finds those that a caller means. */
export class ScreenReader {
  readonly #refs = new Refs();
  readonly #box: Box;
  readonly #connection: Connection;

  constructor(box: Box, connection: Connection) {
    this.#box = box;
    this.#connection = connection;
  }

  readonly elements: ElementSource = {
    dump: async ({ interactiveOnly }, signal) => {
      await this.#connection.look(signal);
      return this.#dump(interactiveOnly);
    },
    selectors: async (refs) =>
      refs.map((ref) => {
        const items = this.#items();
        const item = items.find(({ id }) => this.#refs.of(id) === ref);
        return item ? nodeSelectors(item, items) : [];
      }),
  };

  readonly focus: FocusSource = {
    focus: async (signal) => {
      await this.#connection.look(signal);
      const candidates = this.#shown().filter(({ interactive }) => interactive);
      const focused = candidates.find(({ states }) => states.includes("focused"));
      return { ...(focused && { focused }), candidates, space: boxSpace };
    },
  };

  /** The items that a target means, on the whole screen also where it is scrolled away; refs mean what is shown. */
  find(target: Target): readonly Item[] {
    const wanted = onlyTarget(target);
    if ("selector" in wanted) return findNodes(this.#items(), grammar.parse(wanted.selector));
    return this.#items().filter(({ id }) => this.#refs.of(id) === wanted.ref);
  }

  /** The one item that a target means. Throws ELEMENT_NOT_FOUND, ELEMENT_AMBIGUOUS, STALE_REF. */
  one(target: Target): Item {
    const [item, ...others] = this.find(target);
    if (item && others.length === 0) return item;
    const wanted = onlyTarget(target);
    if ("ref" in wanted) throw this.#refs.gone(wanted.ref, this.nearest(target));
    if (item)
      throw ambiguous(
        wanted.selector,
        others.length + 1,
        [item, ...others].map(({ id }) => `id=${id}`),
      );
    throw notFound(grammar.parse(wanted.selector), wanted.selector, {
      afterMs: 0,
      nearest: this.nearest(target),
    });
  }

  /** The names on the screen that are most like a target; a name is a selector, too. */
  nearest({ ref, selector }: Target): string[] {
    const words = selector === undefined ? (ref ?? "") : wantedText(grammar.parse(selector));
    return nearest(
      words,
      this.#items().map(({ name }) => name),
    );
  }

  isShown(item: Item): boolean {
    return !this.#box.isDark() && this.#box.shown().includes(item);
  }

  /** Every state that an item can be in. */
  statesOf(item: Item): States {
    const { checked } = this.#box;
    return {
      focused: item === this.#box.focused(),
      ...(item.role !== "heading" && { disabled: false }),
      ...(item.role === "checkbox" && { checked: checked.has(item.id) }),
      ...(item.role === "textbox" && { editable: true }),
    };
  }

  /** Every text that can be read now. */
  texts(): string[] {
    if (this.#box.isDark()) return [];
    const { dialog, values } = this.#box;
    const shown = this.#box.shown().flatMap(({ id, name }) => [name, values.get(id) ?? ""]);
    return [this.#box.current().title, dialog?.text ?? "", ...shown].filter((text) => text !== "");
  }

  #items(): readonly Item[] {
    return this.#box.current().items;
  }

  #dump(interactiveOnly: boolean): Dump {
    const { dialog } = this.#box;
    const elements = this.#shown().filter(({ interactive }) => interactive || !interactiveOnly);
    return {
      generation: this.#refs.look(elements),
      location: this.#box.screen,
      title: this.#box.current().title,
      space: boxSpace,
      elements,
      notices: dialog ? [`dialog "${dialog.text}" is open; handle_dialog answers it`] : [],
    };
  }

  #shown(): Element[] {
    if (this.#box.isDark()) return [];
    return this.#box.shown().map((item, place) => this.#element(item, place));
  }

  #element(item: Item, place: number): Element {
    const { values } = this.#box;
    const { focused, checked } = this.statesOf(item);
    const value = values.get(item.id);
    return {
      ref: this.#refs.of(item.id),
      role: item.role,
      name: item.name,
      ...(value !== undefined && { value }),
      states: [...(focused ? ["focused"] : []), ...(checked ? ["checked"] : [])],
      rect: rowRect(place),
      depth: 0,
      interactive: item.role !== "heading",
    };
  }
}

/** ELEMENT_NOT_ACTIONABLE for an item that takes no text. */
export function onlyField(item: Item): Item {
  if (item.role === "textbox") return item;
  throw new DeviceError("ELEMENT_NOT_ACTIONABLE", `"${item.name}" takes no text; choose a text field.`);
}
