/**
 * Reports what a person does to this document, in its own isolated world. An element is described when it is pressed, before the
 * page reacts. What is typed is sent as a whole, before the next deed.
 */

import * as fields from "../fields.ts";
import * as words from "../names/words.ts";
import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import * as world from "../tree/world.ts";
import type { Deed, DeedTarget } from "./deed.ts";
import { Pointing } from "./pointing.ts";
import { asWritten, holdsSecret, isSecret, nameSecret, noteTyping } from "./secretTexts.ts";
import {
  describeTarget,
  hitBy,
  hoveredFor,
  isBox,
  isTextField,
  opensList,
  pressable,
  writtenIn,
} from "./targets.ts";

type Command = Pick<Deed, "command" | "params"> & Partial<Deed>;
type Pressed = { element: Element; target: DeedTarget; under: DeedTarget | undefined; x: number; y: number };

/** In CSS pixels. A mouse moves a little during a click. */
const dragged = 15;
/** In bytes of JSON: a longer deed is not sent. */
const longestDeed = 200_000;

class PersonWatch {
  readonly #pointing = new Pointing();
  #pressed: Pressed | undefined;
  /** Text that is being typed, and a click into a field, which counts only if nothing is typed there. */
  #typed: { field: Element; target: DeedTarget } | undefined;
  #entered: { field: Element; target: DeedTarget } | undefined;
  /** Where Enter or Space was pressed: the click that follows is the key's. */
  #keyed: Element | undefined;
  #dragFrom: DeedTarget | undefined;
  /** Of the latest click. */
  #clicked: DeedTarget | undefined;
  /** The box that was clicked last, until the browser says that it changed. */
  #ticked: Element | undefined;

  constructor(
    private readonly emit: (json: string) => void,
    private readonly testIdAttribute: string,
  ) {
    this.#on("pointerdown", (event) => this.#press(event));
    this.#on("click", (event) => this.#click(event));
    this.#on("dblclick", (event) => this.#doubleClick(event));
    this.#on("contextmenu", (event) => this.#rightClick(event));
    this.#on("input", (event) => this.#input(event));
    this.#on("change", (event) => this.#change(event));
    this.#on("keydown", (event) => this.#key(event));
    this.#on("dragstart", () => this.#startDrag());
    this.#on("drop", (event) => this.#drop(event));
    this.#on("pointerup", (event) => this.#release(event));
    this.#on("pagehide", () => this.flush());
    for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "dblclick", "auxclick"] as const)
      window.addEventListener(type, (event) => this.#pointing.swallow(event), true);
    this.#on("pointermove", (event) => this.#pointing.follow(hitBy(event)));
  }

  /** Points at an element in place of acting, until one is picked. */
  point(on: boolean): void {
    if (on) this.flush();
    this.#pointing.set(on);
  }

  /** Sends what was typed so far. */
  flush(): void {
    const [typed, entered] = [this.#typed, this.#entered];
    this.#typed = undefined;
    this.#entered = undefined;
    if (entered) this.#send({ command: "click_element", params: {}, target: entered.target });
    if (typed) this.#send({ command: "input_text", target: typed.target, ...textIn(typed.field) });
  }

  #on<Type extends keyof WindowEventMap>(type: Type, listener: (event: WindowEventMap[Type]) => void): void {
    const onEvent = (event: WindowEventMap[Type]) => {
      if (!event.isTrusted) return;
      dom.begin();
      listener(event);
    };
    window.addEventListener(type, onEvent, true);
  }

  #send(command: Command): void {
    const frame = location.href.split(/[?#]/, 1)[0] ?? "";
    const json = JSON.stringify({ ...command, frame, isTop: self === top });
    if (json.length <= longestDeed) this.emit(json);
  }

  #describe(element: Element): DeedTarget {
    world.begin();
    return describeTarget(element, this.testIdAttribute, holdsSecret);
  }

  #press(event: PointerEvent): void {
    this.#keyed = undefined;
    this.#pressed = undefined;
    const hit = hitBy(event);
    if (!hit || this.#pointing.isOn) return;
    world.begin();
    const element = pressable(hit);
    if (this.#typed?.field !== element) this.flush();
    const target = this.#describe(element);
    const under = hoveredFor(element);
    const { clientX: x, clientY: y } = event;
    this.#pressed = { element, target, under: under && this.#describe(under), x, y };
  }

  #click(event: MouseEvent): void {
    const hit = hitBy(event);
    if (!hit) return;
    if (this.#pointing.isOn) this.#pick(event, hit);
    else this.#clickOn(event, hit);
  }

  #clickOn(event: MouseEvent, hit: Element): void {
    // A label passes its click on to its field, and Enter in a field clicks the button of the form.
    if (event.detail === 0 && !(this.#keyed && dom.isWithin(hit, this.#keyed))) return;
    const pressed =
      event.detail === 0 ? { element: pressable(hit), target: undefined, under: undefined } : this.#pressed;
    if (!pressed) return;
    this.#pressed = undefined;
    this.#keyed = undefined;
    const { element } = pressed;
    if (/^(select|option)$/.test(native.localName(element))) return;
    const target = pressed.target ?? this.#describe(element);
    this.#clicked = target;
    if (pressed.under) this.#send({ command: "hover_element", params: {}, target: pressed.under });
    if (isBox(element)) this.#tick(element, hit, target);
    else if (!isTextField(element)) this.#send({ command: "click_element", params: {}, target });
    else if (this.#typed?.field !== element) this.#entered = { field: element, target };
  }

  /** The browser has ticked the box already if it was clicked itself, and not yet if its label was. */
  #tick(box: HTMLInputElement, hit: Element, target: DeedTarget): void {
    this.#ticked = box;
    const checked = box.type === "radio" || (hit === box ? box.checked : !box.checked);
    this.#send({ command: "set_checked", params: { checked }, target });
  }

  #doubleClick(event: MouseEvent): void {
    const hit = hitBy(event);
    const target = this.#clicked;
    if (!hit || !target || this.#pointing.isOn) return;
    const element = pressable(hit);
    if (isTextField(element) || isBox(element)) return;
    this.#send({ command: "double_click", params: {}, target, replaces: 2 });
  }

  #rightClick(event: PointerEvent): void {
    const { target } = this.#pressed ?? {};
    this.#pressed = undefined;
    if (event.button === 2 && target) this.#send({ command: "right_click", params: {}, target });
  }

  #input(event: Event): void {
    const hit = hitBy(event);
    const field = hit && fields.fieldOf(hit);
    if (!field || !isTextField(field)) return;
    if (isSecret(field)) noteTyping(writtenIn(field));
    const entered = this.#entered?.field === field ? this.#entered : undefined;
    // The field is described as it was before the text.
    if (entered && !opensList(field)) this.#entered = undefined;
    if (this.#typed?.field === field) return;
    if (!entered) this.flush();
    this.#typed = { field, target: entered?.target ?? this.#describe(field) };
  }

  #change(event: Event): void {
    const field = hitBy(event);
    if (!field) return;
    if (this.#typed?.field === field) this.flush();
    if (field instanceof HTMLSelectElement) {
      const option = [...field.selectedOptions].map(({ label }) => asWritten(dom.clean(label)));
      const chosen = option.length === 1 ? (option[0] ?? "") : option;
      this.#deed("select_option", { option: chosen }, field);
    }
    if (!(field instanceof HTMLInputElement)) return;
    // An arrow key chooses another radio button.
    if (isBox(field) && this.#ticked !== field) this.#deed("set_checked", { checked: field.checked }, field);
    this.#ticked = undefined;
    if (field.type === "range") this.#deed("set_slider", { value: field.valueAsNumber }, field);
    if (field.type === "file")
      this.#deed(
        "upload_file",
        { files: [...(field.files ?? [])].map(({ name }) => asWritten(name)) },
        field,
      );
  }

  #deed(command: string, params: Deed["params"], element: Element): void {
    this.flush();
    this.#send({ command, params, target: this.#describe(element) });
  }

  #key(event: KeyboardEvent): void {
    if (isOnTheWay(event)) return;
    if (event.key === "F2") {
      event.preventDefault();
      this.#send({ command: "picking", params: { on: !this.#pointing.isOn } });
      return;
    }
    const focus = fields.withFocus();
    const field = focus && fields.fieldOf(focus);
    const isText = field !== null && isTextField(field);
    const name = keyName(event, isText, field !== null && opensList(field));
    if (name === undefined) return;
    this.#keyed = undefined;
    if (!isText && focus && isPressedBy(name, focus)) {
      this.#keyed = focus;
      return;
    }
    const isLineBreak = isText && event.shiftKey && name === "ENTER";
    if (isLineBreak || (focus && choosesByKeys(focus))) return;
    this.flush();
    this.#send({ command: "press_key", params: { key: name } });
  }

  #startDrag(): void {
    this.#dragFrom = this.#pressed?.target;
    this.#pressed = undefined;
  }

  #drop(event: DragEvent): void {
    const hit = hitBy(event);
    if (hit && this.#dragFrom) this.#dropOn(this.#dragFrom, hit);
    this.#dragFrom = undefined;
  }

  /** Widgets that follow the pointer: their drag ends on another element, and no text is selected. */
  #release(event: PointerEvent): void {
    const from = this.#pressed;
    const onto = dom.hit({ x: event.clientX, y: event.clientY });
    if (!from || !onto || this.#pointing.isOn || event.button !== 0) return;
    const way = Math.hypot(event.clientX - from.x, event.clientY - from.y);
    if (way < dragged || dom.isWithin(onto, from.element) || isTextField(from.element)) return;
    this.#pressed = undefined;
    if (getSelection()?.isCollapsed !== false) this.#dropOn(from.target, onto);
  }

  #dropOn(target: DeedTarget, hit: Element): void {
    this.#send({ command: "drag_and_drop", params: {}, target, onto: this.#describe(hit) });
  }

  #pick(event: MouseEvent, hit: Element): void {
    this.#pointing.swallow(event);
    this.#pointing.set(false);
    const target = this.#describe(isTextField(fields.fieldOf(hit)) ? fields.fieldOf(hit) : hit);
    const text = words.shown(hit);
    this.#send({ command: "pick", params: { text: holdsSecret(text) ? "" : dom.cut(text, 200) }, target });
  }
}

const arrows: Readonly<Record<string, string>> = {
  ...{ ArrowUp: "UP", ArrowDown: "DOWN", ArrowLeft: "LEFT", ArrowRight: "RIGHT" },
  ...{ PageUp: "PAGE_UP", PageDown: "PAGE_DOWN", Home: "HOME", End: "END" },
};
const named: Readonly<Record<string, string>> = { Enter: "ENTER", Escape: "ESCAPE", " ": "SPACE" };

const isPressedBy = (key: string, focus: Element): boolean =>
  /^(ENTER|SPACE)$/.test(key) && native.matches(focus, "a[href],button,input,summary");

/** Not yet a key that does something. */
const isOnTheWay = ({ isComposing, altKey, key }: KeyboardEvent): boolean =>
  isComposing || altKey || /^(Control|Shift|Meta|Alt|Tab)$/.test(key);

/** The change that follows says what its keys choose. */
const choosesByKeys = (focus: Element): boolean =>
  native.matches(focus, "select,input[type=range],input[type=radio]");

/** The name of a key that does something by itself; undefined for one that types, or moves in a text. */
function keyName(
  { key, ctrlKey, metaKey }: KeyboardEvent,
  isText: boolean,
  isList: boolean,
): string | undefined {
  const arrow = arrows[key];
  const name = named[key] ?? arrow;
  if (ctrlKey || metaKey) return chordOf(key, isText);
  if (!isText) return name;
  if (arrow !== undefined) return isList && /^(UP|DOWN)$/.test(arrow) ? arrow : undefined;
  return key === " " ? undefined : name;
}

/** Not those of editing in a text, nor those that the browser keeps. */
function chordOf(key: string, isText: boolean): string | undefined {
  if (key.length !== 1 && named[key] === undefined) return undefined;
  if (/^[rtwnl]$/i.test(key) || (isText && /^[acvxyz]$/i.test(key))) return undefined;
  return `Control+${key === " " ? "Space" : key}`;
}

/** What is typed: of a secret field its name alone. */
function textIn(field: Element): Pick<Deed, "params"> & { secret?: string } {
  const value = writtenIn(field);
  if (!isSecret(field)) return { params: { text: asWritten(value) } };
  const secret = nameSecret(field, value);
  return { params: { text: `{{secret.${secret}}}` }, secret };
}

let watch: PersonWatch | undefined;

/** Starts the watch of this document, once. `binding` is a function of this world that takes a deed as JSON. */
export function watchPerson(binding: string, testIdAttribute: string): void {
  const emit: unknown = Reflect.get(globalThis, binding);
  if (watch || typeof emit !== "function") return;
  watch = new PersonWatch((json) => Reflect.apply(emit, undefined, [json]), testIdAttribute);
}

export const pointAtElement = (on: boolean): void => watch?.point(on);
export const flushTyped = (): void => watch?.flush();
/** Which texts repeat a secret that was typed here. */
export const holdSecrets = (texts: readonly string[]): boolean[] => texts.map(holdsSecret);
