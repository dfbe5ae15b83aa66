import type { ControllerContext } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { type Arrow, arrows } from "../focus/geometry.ts";
import type { DeviceInput, Moment } from "../ports.ts";
import type { TreeSource, UiNode, UiTree } from "../screens/tree.ts";
import type { Space } from "../shapes.ts";
import { findIn } from "../vision/imageJudge.ts";
import { type Seen, see } from "../vision/seen.ts";
import { readText } from "../vision/text.ts";
import { pause } from "../waiting/deadlines.ts";
import { Highlight, type Painted, painted } from "./highlight.ts";
import type { Item } from "./item.ts";
import { alignedRects, isPlain, itemsOf, Spellings, titleOf } from "./items.ts";

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
  #lookedAt = 0;

  constructor(context: ControllerContext, settings: PictureSettings) {
    this.#context = context;
    this.#settings = settings;
  }

  /** Throws NO_SIGNAL, and what reading texts throws. */
  async read(signal: AbortSignal): Promise<UiTree> {
    const inputs = this.#context.inputsSince(this.#lookedAt);
    this.#lookedAt = performance.now();
    const { seen, isBusy } = await this.#settled(
      Math.max(0, ...inputs.map(({ at }) => at + reactMs)),
      signal,
    );
    const { languages } = this.#settings;
    const { highlight, spellings } = this.#appLook();
    const read = spellings.apply(itemsOf(await readText(this.#context, seen, { languages }, signal)));
    const pictures = await this.#picturesIn(seen, signal);
    const items = [...read.items.filter(isOutside(pictures.items)), ...pictures.items];
    const now = painted(items, await seen.rgb());
    const arrow = onlyArrow(inputs);
    if (arrow && this.#latest) highlight.learn(this.#latest, now, arrow);
    this.#latest = now;
    const focused = highlight.find(now);
    const title = titleOf(items, seen.space);
    return {
      roots: nodesOf(items, { focused, title }, seen.space),
      space: seen.space,
      ...{ title, location: title },
      byKeys: true,
      isBusy,
      notices: [...read.repaired, ...pictures.missing],
    };
  }

  isOutdated = (): boolean => this.#context.inputsSince(this.#lookedAt).length > 0;

  /** The screen may be another one now. */
  forget(): void {
    this.#latest = undefined;
  }

  /** The saved pictures of the app in use that are on the screen. `missing` says which ones it does not have. */
  async #picturesIn(seen: Seen, signal: AbortSignal): Promise<{ items: Item[]; missing: string[] }> {
    const items: Item[] = [];
    const missing: string[] = [];
    const references = this.#context.app() ? this.#settings.references : [];
    for (const reference of references)
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
  async #settled(since: Moment, signal: AbortSignal): Promise<{ seen: Seen; isBusy: boolean }> {
    const early = since - performance.now();
    if (early > 0) await pause(early, signal);
    const until = performance.now() + longestSettleMs;
    for (let before = await this.#see(since, signal); ; ) {
      await pause(settleMs, signal);
      const seen = await this.#see(since, signal);
      if (seen.arrivedAt !== before.arrivedAt && (await seen.isLike(before))) return { seen, isBusy: false };
      if (performance.now() >= until) return { seen, isBusy: true };
      before = seen;
    }
  }

  async #see(since: Moment, signal: AbortSignal): Promise<Seen> {
    const until = performance.now() + longestFrameMs;
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

/** The arrow that is all that was pressed: what it changed shows how the focus is marked. */
function onlyArrow([first, ...others]: readonly DeviceInput[]): Arrow | undefined {
  if (first?.command !== "press_key" || others.length > 0 || (first.params.count ?? 1) !== 1)
    return undefined;
  return arrows.find((arrow) => arrow === first.params.key);
}

/** A text that is read inside of a picture is a part of it. */
const isOutside =
  (pictures: readonly Item[]) =>
  ({ rect: { x, y, width, height } }: Item): boolean =>
    !pictures.some(({ rect }) => {
      const [right, down] = [x + width / 2 - rect.x, y + height / 2 - rect.y];
      return right >= 0 && down >= 0 && right <= rect.width && down <= rect.height;
    });

/** A picture does not say what can have the focus: all that is short may, but for the title, and what repeats the text of what has it. */
function nodesOf(
  items: readonly Item[],
  { focused, title }: { focused: Item | undefined; title: string },
  space: Space,
): UiNode[] {
  const takesFocus = (item: Item) =>
    item === focused || !(isPlain(item) || item.text === focused?.text || item.text === title);
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
