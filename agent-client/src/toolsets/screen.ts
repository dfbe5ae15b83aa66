import type { BetaScreenshotResult } from "@anthropic-ai/sdk/helpers/beta/toolsets";
import { ToolError } from "@anthropic-ai/sdk/lib/tools/ToolError";
import { z } from "zod";
import { textIn } from "../mcp/calls.ts";
import type { ToolCall, ToolResult } from "../ports.ts";

/** Calls a tool of the server with all that holds for a call of the model itself: events, approval, order. */
export type CallTool = (use: ToolCall, id: string) => Promise<ToolResult>;
/** The device that a toolset drives; without one the server chooses, or says what to name. */
export type DrivenDevice = { id?: string | undefined; isWeb: boolean };
export type Action = { command: string; params?: Readonly<Record<string, unknown>> };
type Point = { x: number; y: number };
type Size = { width: number; height: number };

/** What a toolset's calls become: the first must be one of the skill's own, the others only look. */
export const acts = "execute_device_action";
export const screenTools = ["capture_screenshot", "dump_ui_elements"];
/** Members that change nothing, by their names in the API. */
export const readingMembers = ["screenshot", "zoom", "read_page", "find", "wait"];

const shotSchema = z.object({ width: z.int().positive(), height: z.int().positive(), scale: z.number() });
const dumpSchema = z.object({ location: z.string(), title: z.string(), elements: z.string(), more: z.int() });
const tabSchema = z.object({ tab: z.int(), url: z.string(), title: z.string(), current: z.boolean() });
const pageSchema = z.object({
  url: z.string(),
  title: z.string(),
  viewport: z.object({ width: z.number(), height: z.number() }).nullable(),
  tabs: z.array(tabSchema),
});
export type Page = z.output<typeof pageSchema>;
const batchSchema = z.object({
  results: z.array(z.object({ data: z.unknown() })).optional(),
  screen: z.string().optional(),
});

/** Tokens of what is said of the screen after an action: the model sees it in the next picture. */
const changesTokens = 200;

export const refuse = (text: string): never => {
  throw new ToolError(text);
};

/** A device as a model drives it by pictures. Coordinates are pixels of the last whole picture that the model was given. */
export class DrivenScreen {
  /** Of a browser, as it was after the last call. */
  page: Page | undefined;
  private frame: { shown: Size; full: Size } | undefined;

  constructor(
    readonly device: DrivenDevice,
    private readonly call: CallTool,
  ) {}

  async picture(id: string): Promise<BetaScreenshotResult> {
    const { image, structured } = await this.shot(id, {});
    const { scale, ...full } = shotSchema.parse(structured);
    // As the server scales it: the longer side exactly, the other to the next pixel.
    const shown = { width: Math.round(full.width * scale), height: Math.round(full.height * scale) };
    if (this.device.isWeb) await this.readPage(id);
    this.frame = { shown, full };
    return image;
  }

  /** `region`: two corners. The model's coordinates stay those of the whole picture. */
  async zoom(id: string, region: unknown): Promise<BetaScreenshotResult> {
    const [x0, y0, x1, y1] =
      z.tuple([z.number(), z.number(), z.number(), z.number()]).safeParse(region).data ??
      refuse("INVALID_PARAMS: a region is [x0, y0, x1, y1] in pixels of the last screenshot.");
    const { shown, full } = this.lastFrame();
    const from = this.inside({ x: x0, y: y0 });
    const to = this.inside({ x: x1 - 1, y: y1 - 1 });
    if (to.x < from.x || to.y < from.y)
      refuse("INVALID_PARAMS: a region's second corner is right and below.");
    const [across, down] = [full.width / shown.width, full.height / shown.height];
    const size = { width: (x1 - x0) * across, height: (y1 - y0) * down };
    const { image } = await this.shot(id, { area: { x: x0 * across, y: y0 * down, ...size } });
    return image;
  }

  /** The pixel of the device, CSS pixels in a browser, under the middle of a pixel of the picture. */
  point(given: Point): Point {
    const { x, y } = this.inside(given);
    const { shown, full } = this.lastFrame();
    const device = (this.device.isWeb && this.page?.viewport) || full;
    const scaled = (at: number, from: number, to: number) =>
      Math.max(0, Math.min(to - 1, Math.round(((at + 0.5) * to) / from - 0.5)));
    return { x: scaled(x, shown.width, device.width), y: scaled(y, shown.height, device.height) };
  }

  /** A point so many parts of the picture's sides away, or as far as the picture goes. */
  moved({ x, y }: Point, across: number, down: number): Point {
    const { shown } = this.lastFrame();
    const within = (at: number, by: number, side: number) =>
      Math.max(0, Math.min(side - 1, Math.round(at + by * side)));
    return { x: within(x, across, shown.width), y: within(y, down, shown.height) };
  }

  middle(): Point {
    const { width, height } = this.lastFrame().shown;
    return { x: Math.floor(width / 2), y: Math.floor(height / 2) };
  }

  /** Runs the actions in order and says what changed on the screen. */
  async act(id: string, ...actions: Action[]): Promise<string | undefined> {
    const all = this.device.isWeb ? [...actions, { command: "get_page_info" }] : actions;
    const input = { actions: all, look: true, max_tokens: changesTokens };
    const { results = [], screen } = batchSchema.parse(await this.structured(acts, input, id));
    this.page = pageSchema.safeParse(results.at(-1)?.data).data ?? this.page;
    return screen;
  }

  async elements(id: string, how: Readonly<Record<string, unknown>>): Promise<string> {
    const dump = dumpSchema.parse(await this.structured("dump_ui_elements", how, id));
    const { location, title, elements, more } = dump;
    return [`${title} at ${location}`, elements, ...(more > 0 ? [`${more} more`] : [])].join("\n");
  }

  /** A device that another holds can be looked at, but not asked for its page: then what was known of it stands. */
  private async readPage(id: string): Promise<void> {
    const input = { ...this.named(), actions: [{ command: "get_page_info" }], look: false };
    const { structured } = await this.call({ name: acts, input }, `${id}-page`);
    const { results = [] } = batchSchema.safeParse(structured).data ?? {};
    this.page = pageSchema.safeParse(results.at(-1)?.data).data ?? this.page;
  }

  private async shot(id: string, how: Readonly<Record<string, unknown>>) {
    const { parts, structured } = await this.done("capture_screenshot", how, id);
    const picture = parts.find((part) => part.type === "image");
    if (!picture) return refuse("NOT_FOUND: the server gave no picture. Look with dump_ui_elements instead.");
    const mediaType = picture.mimeType === "image/jpeg" ? "image/jpeg" : "image/png";
    const image: BetaScreenshotResult = { data: picture.base64, mediaType };
    return { image, structured };
  }

  private async structured(name: string, how: Readonly<Record<string, unknown>>, id: string) {
    return (await this.done(name, how, id)).structured;
  }

  /** Throws what the server refused, in its words: its code and what to do. */
  private async done(name: string, how: Readonly<Record<string, unknown>>, id: string): Promise<ToolResult> {
    const result = await this.call({ name, input: { ...this.named(), ...how } }, id);
    return result.isError ? refuse(textIn(result.parts)) : result;
  }

  private named() {
    const { id } = this.device;
    return id === undefined ? {} : { device_id: id };
  }

  private lastFrame() {
    return this.frame ?? refuse("INVALID_PARAMS: coordinates are pixels of a screenshot. Take one first.");
  }

  private inside({ x, y }: Point): Point {
    const { width, height } = this.lastFrame().shown;
    const isIn = (at: number, side: number) => Number.isFinite(at) && at >= 0 && at < side;
    if (isIn(x, width) && isIn(y, height)) return { x, y };
    return refuse(
      `INVALID_PARAMS: ${x}, ${y} is not in the picture, which is ${width} x ${height} pixels. Give a point of the last screenshot, or take another.`,
    );
  }
}
