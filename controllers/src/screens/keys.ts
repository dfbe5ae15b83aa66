import type { Element, Rect, Withheld } from "../contract.ts";
import { ambiguous } from "../elements/failures.ts";
import { hasTarget, type Target } from "../elements/target.ts";
import { DeviceError } from "../errors.ts";
import { FocusMaps } from "../focus/focusMaps.ts";
import { type FocusMove, type FocusRemote, type MoveOptions, moveFocus } from "../focus/moveFocus.ts";
import { pause } from "../waiting/deadlines.ts";
import { noDarkTouch } from "./dialogs.ts";
import { type Pace, type Place, type ScreenInput, sent, type Way } from "./input.ts";
import type { ScreenReader } from "./reader.ts";
import { type Seen, seenAgain } from "./screen.ts";
import { areaAround, mostSteps, placesOf, search, signOf, slow } from "./scrolling.ts";
import type { UiNode } from "./tree.ts";

const lookEveryMs = 150;
/** Fewer keys of one character are some buttons, and no keyboard. */
const leastScreenKeys = 10;
const arrows = { up: "UP", down: "DOWN", left: "LEFT", right: "RIGHT" } as const;

/** How a driver presses the keys of a remote. Each reports to the reader that something was sent, whatever comes of it. */
export type Keys = {
  /** One after another. */
  press(keys: readonly ("UP" | "DOWN" | "LEFT" | "RIGHT" | "OK")[], signal: AbortSignal): Promise<void>;
  /** How long, some devices decide by themselves. */
  holdOk(ms: number, signal: AbortSignal): Promise<void>;
};

const noTouch = "A TV has no touch screen.";
const instead = `${noTouch} Use click_element, move_focus_to, scroll or press_key.`;

export class KeyInput implements ScreenInput {
  readonly reader: ScreenReader;
  readonly withheld: readonly Withheld[] = ["tap", "swipe", "fling", "drag", "pinch"].map((name) => ({
    name,
    reason: instead,
  }));
  readonly #keys: Keys;
  readonly #maps = new FocusMaps();

  constructor(reader: ScreenReader, keys: Keys) {
    this.reader = reader;
    this.#keys = keys;
  }

  async reach(target: Target, timeoutMs: number, signal: AbortSignal): Promise<Seen> {
    return (await this.moveTo(target, timeoutMs, signal)).seen;
  }

  /** The element that a target means, once it has the focus. Throws what `reach` throws, and FOCUS_TRAPPED. */
  async moveTo(target: Target, timeoutMs: number, signal: AbortSignal) {
    const { reader } = this;
    const find = reader.finder(target);
    const { ref } = target;
    const wanted = target.selector ?? reader.words(ref ?? "");
    const until = performance.now() + timeoutMs;
    const focus: FocusRemote["focus"] = {
      focus: async (own) => {
        for (;;) {
          const view = await reader.focus.focus(own);
          if ((await reader.recent(own)).tree.isDark) throw noDarkTouch();
          const problem = await this.#unreachable(target, await find(view.candidates), own);
          if (problem === undefined) return view;
          if (!problem.mayPass || performance.now() >= until)
            throw new DeviceError("ELEMENT_NOT_ACTIONABLE", problem.message);
          await pause(lookEveryMs, own);
        }
      },
    };
    const { target: found, presses } = await this.#move(
      { focus, find: async (candidates) => onlyOne(await find(candidates), wanted) },
      { wanted, timeoutMs, ...(ref !== undefined && { gone: () => reader.gone(ref) }) },
      signal,
    );
    return { seen: reader.seen(found), presses };
  }

  click(_reached: Seen, times: number, signal: AbortSignal): Promise<void> {
    return this.#pressOk(times, signal);
  }

  edit(_reached: Seen, signal: AbortSignal): Promise<void> {
    return this.#pressOk(1, signal);
  }

  async use({ id, text }: UiNode, signal: AbortSignal): Promise<void> {
    const isPart = ({ node }: Seen) => (id ? node.id === id : node.text === text);
    const find = (candidates: readonly Element[]) => candidates.find((one) => isPart(this.reader.seen(one)));
    await this.#moveTo(find, text || id || "", signal);
    await this.#pressOk(1, signal);
  }

  async hold(
    { x, y, ...target }: Place,
    { ms, timeoutMs }: { ms: number; timeoutMs: number },
    signal: AbortSignal,
  ) {
    if (x !== undefined || y !== undefined || !hasTarget(target))
      throw new DeviceError("INVALID_PARAMS", `${noTouch} Name an element by ref or selector.`);
    const seen = await this.reach(target, timeoutMs, signal);
    await this.#keys.holdOk(ms, signal);
    return `OK on ${this.reader.describe(seen)}`;
  }

  async areaAround(target: Target, timeoutMs: number, signal: AbortSignal): Promise<Rect> {
    const seen = await this.reach(target, timeoutMs, signal);
    return areaAround(seen, await this.reader.recent(signal));
  }

  step(_area: Rect, way: Way, _pace: Pace, signal: AbortSignal): Promise<void> {
    return this.#keys.press([arrows[way]], signal);
  }

  /** Presses the arrow until half of what was in sight is out of it, or nothing goes on. */
  async scroll(area: Rect, way: Way, signal: AbortSignal) {
    const first = await this.reader.recent(signal);
    const keys = new Set(first.seen.map(({ key }) => key));
    let presses = 0;
    let screen = first;
    for (let before = ""; before !== signOf(screen) && presses < mostSteps; presses++) {
      const left = screen.seen.filter(({ key }) => keys.has(key));
      if (left.length <= keys.size / 2) break;
      before = signOf(screen);
      await this.step(area, way, slow, signal);
      screen = await this.reader.look(signal);
    }
    if (signOf(screen) === signOf(first))
      return { ...sent("nothing went on: it is at the end"), isNews: true };
    const by = `by ${presses} presses of ${arrows[way]}`;
    return placesOf(screen) === placesOf(first)
      ? { ...sent(`moved the focus ${by}; nothing scrolled`), isNews: true }
      : sent(`scrolled ${way} ${by}`);
  }

  /** Lists go on by the arrows, and rows by the search of the focus for what can have it. */
  async bring(target: Target, timeoutMs: number, signal: AbortSignal): Promise<Seen> {
    try {
      return await search(this, target, timeoutMs, signal);
    } catch (error) {
      if (!(error instanceof DeviceError) || error.code !== "ELEMENT_NOT_FOUND") throw error;
      return this.reach(target, timeoutMs, signal);
    }
  }

  async typeOnScreen(field: Seen, text: string, signal: AbortSignal): Promise<void> {
    const { value = "" } = field.element;
    if (text === value || seenAgain(await this.reader.look(signal), field)?.element.value !== value) return;
    await this.typeByKeys("\b".repeat([...value].length) + text, signal);
  }

  /**
   * Types on the keyboard that the screen shows, where `\b` deletes. False where it shows none. Throws UNICODE_UNSUPPORTED
   * before sending anything.
   */
  async typeByKeys(typed: string, signal: AbortSignal): Promise<boolean> {
    const { candidates } = await this.reader.focus.focus(signal);
    if (candidates.filter(({ name }) => [...name].length === 1).length < leastScreenKeys) return false;
    const missing = [...typed].find((character) => keyFor(character, candidates) === undefined);
    if (missing !== undefined)
      throw new DeviceError(
        "UNICODE_UNSUPPORTED",
        `The field takes no text from outside, and the keyboard on the screen shows no key for ${JSON.stringify(missing)}. Choose characters that it shows.`,
      );
    // Characters that follow each other need no move between them.
    for (const [run, character = ""] of typed.matchAll(/(.)\1*/gsu)) {
      const find = (keys: readonly Element[]) => keyFor(character, keys);
      await this.#moveTo(find, `the key ${JSON.stringify(character)}`, signal);
      await this.#pressOk([...run].length, signal);
    }
    return true;
  }

  /** Moves the focus to what is shown already, or never. */
  async #moveTo(find: FocusRemote["find"], wanted: string, signal: AbortSignal): Promise<void> {
    await this.#move({ focus: this.reader.focus, find }, { wanted, timeoutMs: 0 }, signal);
  }

  /** With what earlier moves saw of this screen. */
  async #move(
    remote: Pick<FocusRemote, "focus" | "find">,
    options: Omit<MoveOptions, "map">,
    signal: AbortSignal,
  ): Promise<FocusMove> {
    const { location = "" } = (await this.reader.recent(signal)).tree;
    const press: FocusRemote["press"] = (keys, own) => this.#keys.press(keys, own);
    return moveFocus({ ...remote, press }, { ...options, map: this.#maps.of(location) }, signal);
  }

  /** A target on the screen that can have no focus: why, and whether that may change. */
  async #unreachable(
    target: Target,
    candidates: readonly Element[],
    signal: AbortSignal,
  ): Promise<{ message: string; mayPass: boolean } | undefined> {
    if (candidates.length > 0) return undefined;
    const [shown] = await this.reader.find(target, await this.reader.recent(signal));
    if (shown === undefined) return undefined;
    const mayPass = shown.node.disabled === true;
    const why = mayPass
      ? "is disabled. Do first what enables it, or wait longer with timeout_ms."
      : "takes no focus: a remote cannot reach it. Choose an element that can have the focus.";
    return { message: `${this.reader.describe(shown)} ${why}`, mayPass };
  }

  #pressOk(times: number, signal: AbortSignal): Promise<void> {
    return this.#keys.press(Array<"OK">(times).fill("OK"), signal);
  }
}

function onlyOne(found: readonly Element[], wanted: string): Element | undefined {
  if (found.length < 2) return found[0];
  const candidates = found.slice(0, 6).map(({ ref, role, name }) => `${ref} ${role} ${JSON.stringify(name)}`);
  throw ambiguous(wanted, found.length, candidates);
}

const namedKeys: ReadonlyMap<string, RegExp> = new Map([
  [" ", /^(?:space(?: ?bar)?|␣|⎵|_)$/i],
  ["\b", /^(?:delete|backspace|del|⌫|←)$/i],
]);

/** A key called like the character, else like its small or capital letter: most keyboards show one of both. */
function keyFor(character: string, candidates: readonly Element[]): Element | undefined {
  const named = namedKeys.get(character);
  if (named) return candidates.find(({ name }) => named.test(name));
  const other = character.toLowerCase() === character ? character.toUpperCase() : character.toLowerCase();
  return candidates.find(({ name }) => name === character) ?? candidates.find(({ name }) => name === other);
}
