import type { Locator } from "playwright-core";
import { z } from "zod";
import type { Command } from "../../contract.ts";
import { unsent } from "../../dispatch.ts";
import { targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { poll, untilAborted } from "../../waiting/deadlines.ts";
import type { Action, Actions } from "../acting/action.ts";
import { boxSchema, placeSchema } from "../acting/clickPlace.ts";
import { expectKept, expectText } from "../acting/readBack.ts";
import { askElement, runApart } from "../page/askAgent.ts";
import { elementCommand } from "./elementCommand.ts";
import { dragTo, middleOf } from "./pointer.ts";

/** More key presses than this in one go are replaced by a drag along the track. */
const MOST_PRESSES = 100;
/** What a page may take to show what a key did. */
const MOVED_MS = 400;
const MOST_ROUNDS = 12;

export function setSlider(actions: Actions): Command {
  return elementCommand(actions, {
    name: "set_slider",
    description: "Sets a slider to a value and reads it back.",
    input: z.strictObject({ ...targetShape, value: z.number(), ...timeoutShape }),
    done: "set",
    async run(locator, { value }, action) {
      const state = await read(locator, action);
      if (state.now === undefined) throw noSlider(state);
      if (value < state.min || value > state.max)
        throw unsent(
          new DeviceError("INPUT_NOT_TAKEN", `The slider cannot be set to ${value}: it ${takes(state)}.`),
        );
      const slider = state.inside ? locator.locator("input[type=range],[role=slider]") : locator;
      await askElement(slider, "noteField", [action.token, null], action.limits);
      if (!state.native) {
        await new AriaSlider(slider, action, value).set(state.now);
        return expectKept(action);
      }
      if (!onStep(state, value)) throw unsent(notTaken(state, value));
      await slider.fill(String(value), action.limits);
      expectText(action, String(value));
    },
  });
}

const sliderSchema = z.object({
  /** The browser's own. */
  native: z.boolean(),
  /** How many sliders the target is or holds. */
  count: z.int().nonnegative(),
  inside: z.boolean(),
  now: z.number().optional(),
  min: z.number(),
  max: z.number(),
  step: z.number().optional(),
  vertical: z.boolean(),
  /** Where the middle of the thumb is and where it can go, in pixels of the frame; absent where no track is found. */
  track: z.object({ ...boxSchema.shape, thumb: placeSchema }).optional(),
});
type SliderState = z.output<typeof sliderSchema>;

const read = (locator: Locator, action: Action): Promise<SliderState> =>
  runApart(locator, sliderSchema, readSlider, null, action.limits);

/** The browser moves a value that is on no step to the nearest one that is. */
function onStep({ min, step }: SliderState, value: number): boolean {
  if (step === undefined) return true;
  const steps = (value - min) / step;
  return Math.abs(steps - Math.round(steps)) < 1e-6;
}

/** Moves by keys, as the pattern of ARIA has it, and by the mouse where keys do nothing or too little. */
class AriaSlider {
  private hasDragged = false;
  private isRightMore = true;
  /** By how much one key moves it. */
  private step: number | undefined;

  constructor(
    private readonly locator: Locator,
    private readonly action: Action,
    private readonly value: number,
  ) {}

  async set(start: number): Promise<void> {
    let now = start;
    for (let round = 0; now !== this.value && round < MOST_ROUNDS; round++) {
      const next = await this.closer(now);
      if (next === undefined) break;
      now = next;
    }
    const state = await read(this.locator, this.action);
    const isThere = Math.abs((state.now ?? Number.NaN) - this.value) < 1e-9;
    if (!isThere) throw notTaken({ ...state, step: this.step }, this.value);
  }

  /** The value after one more attempt; undefined when none is left. */
  private async closer(now: number): Promise<number | undefined> {
    const missing = this.value - now;
    const presses = this.step === undefined ? 1 : Math.round(Math.abs(missing) / this.step);
    if (presses === 0) return undefined;
    if (presses > MOST_PRESSES && !this.hasDragged) return this.drag();
    const key = missing > 0 === this.isRightMore ? "ArrowRight" : "ArrowLeft";
    const after = await this.press(key, Math.min(presses, MOST_PRESSES), now);
    if (after === now) return this.hasDragged ? undefined : this.drag();
    // Right is less where the page is read from right to left.
    if (after > now !== missing > 0) this.isRightMore = !this.isRightMore;
    this.step ??= Math.abs(after - now);
    return after;
  }

  private async press(key: string, times: number, before: number): Promise<number> {
    const { page, signal } = this.action;
    await this.locator.focus(this.action.limits);
    const press = () => untilAborted(page.keyboard.press(key), signal);
    for (let left = times; left > 0; left--) await this.action.send(press);
    return this.moved(before);
  }

  private async drag(): Promise<number> {
    this.hasDragged = true;
    const { now = 0, min, max, vertical, track } = await read(this.locator, this.action);
    if (!track || max <= min) return now;
    const share = (this.value - min) / (max - min);
    const thumb = await middleOf(this.locator, this.action);
    const x = vertical ? 0 : track.x + share * track.width - track.thumb.x;
    const y = vertical ? track.y + (1 - share) * track.height - track.thumb.y : 0;
    await dragTo(this.action, thumb, async () => ({ x: thumb.x + x, y: thumb.y + y }));
    return this.moved(now);
  }

  /** The value that the slider has when it has moved, or has had the time to. */
  private async moved(before: number): Promise<number> {
    let now = before;
    let seen = before;
    const isDone = async () => {
      now = (await read(this.locator, this.action)).now ?? before;
      const isStill = now !== before && now === seen;
      seen = now;
      return isStill;
    };
    await poll(isDone, { everyMs: 20, ms: MOVED_MS, signal: this.action.signal });
    return now;
  }
}

function noSlider({ count }: SliderState): DeviceError {
  const message =
    count > 1
      ? `The element holds ${count} sliders. Name one of them by its ref.`
      : "The element is not a slider that reports its value. Move it with drag_by or press_key, and check what the page shows.";
  return new DeviceError("ACTION_REJECTED", message);
}

function notTaken(state: SliderState, value: number): DeviceError {
  return new DeviceError(
    "INPUT_NOT_TAKEN",
    `The slider did not take ${value}: it is at ${state.now ?? "no value"} and ${takes(state)}. Give a value that it can have.`,
  );
}

function takes({ min, max, step }: SliderState): string {
  return `goes from ${min} to ${max}${step === undefined ? "" : ` in steps of ${step}`}`;
}

// What follows runs in the page.

/** The track is the first box around the thumb that is more than twice as long as the thumb. */
function readSlider(element: Element): SliderState {
  const css = "input[type=range],[role=slider]";
  const found = element.matches(css) ? [element] : [...element.querySelectorAll(css)];
  const [slider] = found;
  const inside = slider !== element;
  const unknown = { native: false, count: found.length, inside, min: 0, max: 100, vertical: false };
  if (!slider || found.length > 1) return unknown;
  const numberOf = (text: string | null) =>
    text === null || text.trim() === "" || !Number.isFinite(Number(text)) ? undefined : Number(text);
  if (slider instanceof HTMLInputElement)
    return {
      ...unknown,
      native: true,
      min: numberOf(slider.min) ?? 0,
      max: numberOf(slider.max) ?? 100,
      now: numberOf(slider.value),
      step: slider.step === "any" ? undefined : (numberOf(slider.step) ?? 1),
    };
  const said = (name: string) => numberOf(slider.getAttribute(`aria-value${name}`));
  const vertical = slider.getAttribute("aria-orientation") === "vertical";
  const side = vertical ? "height" : "width";
  const thumb = slider.getBoundingClientRect();
  const middle = { x: thumb.x + thumb.width / 2, y: thumb.y + thumb.height / 2 };
  const trackOf = (at: Element | null, up: number): SliderState["track"] => {
    if (!at || up === 0) return undefined;
    const box = at.getBoundingClientRect();
    if (box[side] <= thumb[side] * 2) return trackOf(at.parentElement, up - 1);
    return { x: box.x, y: box.y, width: box.width, height: box.height, thumb: middle };
  };
  const track = trackOf(slider.parentElement, 7);
  return { ...unknown, min: said("min") ?? 0, max: said("max") ?? 100, now: said("now"), vertical, track };
}
