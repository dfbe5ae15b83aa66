import type { ControllerContext } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { type Arrow, arrows } from "../focus/geometry.ts";
import type { TreeSource, UiNode, UiTree } from "../screens/tree.ts";
import type { Space } from "../shapes.ts";
import { findIn } from "../vision/imageJudge.ts";
import { type Seen, see } from "../vision/seen.ts";
import { readText } from "../vision/text.ts";
import { pause } from "../waiting/deadlines.ts";
import { Highlight, type Painted, painted } from "./highlight.ts";
import { alignedRects, type Item, isPlain, itemsOf, Spellings, titleOf } from "./items.ts";

/** A TV takes up to 230 ms to react to a key, and then animates. */
const reactMs = 350;
/** Two pictures this far apart that show the same are a screen that has settled. */
const settleMs = 220;
const longestSettleMs = 2_000;
const longestFrameMs = 3_000;
const mostApps = 20;
/** How like it is at least, and how much smaller or larger an entry may get with the focus. */
const likePicture = { score: 0.8, scale_range: 0.06, tolerance: 0, most: 1 };

export type PictureSettings = { languages: readonly string[]; references: readonly string[] };

/** What was learnt of an app: how it marks the focus, and how its texts are spelt. */
type AppLook = { highlight: Highlight; spellings: Spellings };

/** The texts of a device's picture as a tree that keys drive. */
export class PictureTree implements TreeSource {
  readonly #context: ControllerContext;
  readonly #settings: PictureSettings;
  readonly #apps = new Map<string, AppLook>();
  #latest: readonly Painted[] | undefined;
  /** The one arrow since the latest look, with what was shown before it. */
  #pressed: { arrow: Arrow; before: readonly Painted[] } | undefined;
  #inputAt = 0;

  constructor(context: ControllerContext, settings: PictureSettings) {
    this.#context = context;
    this.#settings = settings;
  }

  /** Throws NO_SIGNAL, and what reading texts throws. */
  async read(signal: AbortSignal): Promise<UiTree> {
    const { seen, isBusy } = await this.#settled(signal);
    const { languages } = this.#settings;
    const { highlight, spellings } = this.#appLook();
    const read = spellings.apply(itemsOf(await readText(this.#context, seen, { languages }, signal)));
    const pictures = await this.#picturesIn(seen, signal);
    const items = [...read.items.filter(isOutside(pictures.items)), ...pictures.items];
    const look = painted(items, await seen.rgb());
    if (this.#pressed) highlight.learn(this.#pressed.before, look, this.#pressed.arrow);
    this.#pressed = undefined;
    this.#latest = look;
    const focused = highlight.find(look);
    const title = titleOf(items, seen.space);
    return {
      roots: nodesOf(items, focused, seen.space),
      space: seen.space,
      ...{ title, location: title },
      byKeys: true,
      isBusy,
      notices: [...read.repaired, ...pictures.missing],
    };
  }

  driven(): void {
    this.#inputAt = performance.now();
  }

  /** Keys are about to be pressed: a single arrow shows how the focus is marked. */
  pressing(keys: readonly string[]): void {
    const [key] = keys;
    const arrow = arrows.find((one) => one === key);
    const isSingle = keys.length === 1 && this.#pressed === undefined;
    this.#pressed =
      isSingle && arrow !== undefined && this.#latest !== undefined
        ? { arrow, before: this.#latest }
        : undefined;
  }

  /** The screen may be another one now. */
  forget(): void {
    this.#latest = undefined;
    this.#pressed = undefined;
  }

  /** The saved pictures that are on the screen. `missing` says which ones the app in use does not have. */
  async #picturesIn(seen: Seen, signal: AbortSignal): Promise<{ items: Item[]; missing: string[] }> {
    const items: Item[] = [];
    const missing: string[] = [];
    for (const reference of this.#settings.references)
      try {
        const { places } = await findIn(this.#context, seen, { ...likePicture, reference }, { signal });
        for (const { x, y, width, height, score } of places)
          items.push({ text: reference, confidence: score, rect: { x, y, width, height }, isPicture: true });
      } catch (error) {
        if (!(error instanceof DeviceError) || error.code !== "REFERENCE_NOT_FOUND") throw error;
        missing.push(error.message);
      }
    return { items, missing };
  }

  #appLook(): AppLook {
    const app = this.#context.app()?.name ?? "";
    const known = this.#apps.get(app) ?? { highlight: new Highlight(), spellings: new Spellings() };
    this.#apps.delete(app);
    this.#apps.set(app, known);
    const [oldest] = this.#apps.keys();
    if (this.#apps.size > mostApps && oldest !== undefined) this.#apps.delete(oldest);
    return known;
  }

  /** The picture once it stays the same. `isBusy`: it did not, as while a video plays. */
  async #settled(signal: AbortSignal): Promise<{ seen: Seen; isBusy: boolean }> {
    const early = this.#inputAt + reactMs - performance.now();
    if (early > 0) await pause(early, signal);
    const until = performance.now() + longestSettleMs;
    for (let before = await this.#see(signal); ; ) {
      await pause(settleMs, signal);
      const seen = await this.#see(signal);
      if (seen.arrivedAt !== before.arrivedAt && (await seen.isLike(before))) return { seen, isBusy: false };
      if (performance.now() >= until) return { seen, isBusy: true };
      before = seen;
    }
  }

  async #see(signal: AbortSignal): Promise<Seen> {
    const until = performance.now() + longestFrameMs;
    const since = this.#inputAt === 0 ? 0 : this.#inputAt + reactMs;
    for (;;) {
      const seen = await see(this.#context, { since }, signal);
      if (typeof seen !== "string") return seen;
      if (performance.now() >= until)
        throw new DeviceError(
          "NO_SIGNAL",
          `There is no picture to read: ${seen}. See whether the device is on and its capture works.`,
        );
      await pause(settleMs / 2, signal);
    }
  }
}

/** A text that is read inside of a picture is a part of it. */
const isOutside =
  (pictures: readonly Item[]) =>
  ({ rect: { x, y, width, height } }: Item): boolean =>
    !pictures.some(({ rect }) => {
      const [right, down] = [x + width / 2 - rect.x, y + height / 2 - rect.y];
      return right >= 0 && down >= 0 && right <= rect.width && down <= rect.height;
    });

/** A picture does not say what can have the focus: all that is short may, but for what repeats the text of what has it. */
function nodesOf(items: readonly Item[], focused: Item | undefined, space: Space): UiNode[] {
  const takesFocus = (item: Item) => item === focused || !(isPlain(item) || item.text === focused?.text);
  const rects = alignedRects(items.filter(takesFocus), space);
  return items.map((item) => {
    const rect = rects.get(item);
    const can = rect !== undefined;
    return {
      ...{ role: can ? "button" : "text", text: item.text, bounds: rect ?? item.rect, children: [] },
      ...{ clickable: can, focusable: can, focused: item === focused },
    };
  });
}
