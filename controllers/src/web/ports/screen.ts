import type { CDPSession, ElementHandle, Page } from "playwright-core";
import type { z } from "zod";
import type { Frame, Rect, ScreenSource } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { clipped } from "../../spaces.ts";
import { untilAborted } from "../../waiting/deadlines.ts";
import { boxSchema } from "../acting/clickPlace.ts";
import { locate } from "../acting/locate.ts";
import { ask } from "../acting/question.ts";
import { coverSecrets } from "../acting/secretFields.ts";
import type { WebSession } from "../browser/session.ts";
import { runApart } from "../page/askAgent.ts";
import type { PageSignals } from "../page/signals.ts";
import { withFrame } from "./highlight.ts";

const DEADLINE_MS = 15_000;
const JPEG_QUALITY = 80;
/** Chromium draws no texture that is larger. */
const LONGEST_SIDE = 16_384;

/** Takes a picture of an area, in CSS pixels of the whole document, or of what is visible. */
type Take = (area: Rect | undefined, format?: Format) => Promise<Frame>;
type Format = "png" | "jpeg";

type ShownSession = Pick<WebSession, "context" | "memory" | "page" | "isAlive" | "strangeness" | "doubt"> & {
  signals(page: Page): Pick<PageSignals, "cdp">;
};

/**
 * Pictures of the current tab, in the pixels of the screen that the browser is on: it may have several for a CSS pixel. Does not
 * wait for fonts or pictures: it shows what a user would see now.
 */
export function createScreen(session: ShownSession): ScreenSource {
  return {
    capture(options, signal) {
      const question = {
        what: "the screenshot",
        silence: "gave no picture",
        ms: DEADLINE_MS,
        signal,
        isOfApp: true,
      };
      return ask(session, question, async (limited) => {
        const page = session.page();
        await coverSecrets(page, limited);
        const cdp = await session.signals(page).cdp();
        const take: Take = async (area, format = "png") => {
          const taking =
            cdp === undefined ? byPlaywright(page, { area, format }, limited) : byDevTools(cdp, area, format);
          return frameOf(await untilAborted(taking, limited), format);
        };
        const area = await areaOf(session, { page, take, ...options }, limited);
        const picture = await take(area, options.format);
        const marked = options.highlight ? session.memory.highlighted() : undefined;
        const box = marked && (await placeOf(marked, { page, take, area }, limited));
        return box ? await withFrame(picture, box, options.format ?? "png") : picture;
      });
    },
  };
}

/** Where an element is in a picture of the area, in pixels of the picture. Undefined if it is gone or hidden. */
async function placeOf(
  element: ElementHandle,
  { page, take, area }: { page: Page; take: Take; area: Rect | undefined },
  signal: AbortSignal,
): Promise<Rect | undefined> {
  // Throws for an element of a document that was left.
  const box = await element.boundingBox().catch(() => null);
  if (box === null) return undefined;
  const ratio = await pixelRatio(take);
  if (area === undefined) return scaled(box, ratio);
  const options = { timeout: DEADLINE_MS, signal };
  const scroll = await runApart(page.locator(":root"), boxSchema, documentExtent, undefined, options);
  return scaled({ ...box, x: box.x + scroll.x - area.x, y: box.y + scroll.y - area.y }, ratio);
}

/** In CSS pixels of the whole document. Undefined: what is visible. */
async function areaOf(
  session: ShownSession,
  { page, take, ...options }: { page: Page; take: Take; fullPage?: boolean; area?: Rect; ref?: string },
  signal: AbortSignal,
): Promise<Rect | undefined> {
  if (options.ref === undefined && options.area === undefined && options.fullPage !== true) return undefined;
  const box = options.ref === undefined ? undefined : await boxOf(session, options.ref, signal);
  const scroll = await runApart(page.locator(":root"), boxSchema, documentExtent, undefined, {
    timeout: DEADLINE_MS,
    signal,
  });
  const ratio = await pixelRatio(take);
  const inView = box ?? (options.area && scaled(options.area, 1 / ratio));
  if (inView === undefined) return limited({ ...scroll, x: 0, y: 0 }, ratio);
  // A full page's pixels count from the document's corner, the visible part's from the window's.
  const whole = options.ref === undefined && options.fullPage === true;
  const area = whole ? inView : { ...inView, x: inView.x + scroll.x, y: inView.y + scroll.y };
  const seen = clipped(area, scroll);
  if (seen) return limited(seen, ratio);
  const { width, height } = scaled({ ...scroll, x: 0, y: 0 }, ratio);
  throw new DeviceError(
    "INVALID_PARAMS",
    `The area is outside of the page, which is ${width} x ${height} pixels. Give one inside it.`,
  );
}

const scaled = ({ x, y, width, height }: Rect, scale: number): Rect => ({
  x: x * scale,
  y: y * scale,
  width: width * scale,
  height: height * scale,
});

/** Pixels of a picture for one of CSS. The page's devicePixelRatio is set by Playwright and says nothing of the screen. */
async function pixelRatio(take: Take): Promise<number> {
  const side = 8;
  return (await take({ x: 0, y: 0, width: side, height: side })).width / side;
}

function limited({ x, y, width, height }: Rect, ratio: number): Rect {
  const longest = Math.floor(LONGEST_SIDE / ratio);
  return { x, y, width: Math.min(width, longest), height: Math.min(height, longest) };
}

async function boxOf(session: ShownSession, ref: string, signal: AbortSignal): Promise<Rect> {
  const locator = await locate(session, { ref }, signal);
  await locator.scrollIntoViewIfNeeded({ timeout: DEADLINE_MS, signal });
  const box = await locator.boundingBox({ timeout: DEADLINE_MS, signal });
  if (box !== null) return box;
  throw new DeviceError(
    "ELEMENT_NOT_ACTIONABLE",
    `${ref} is hidden, so there is nothing to picture. Open what contains it first.`,
  );
}

async function byDevTools(cdp: CDPSession, area: Rect | undefined, format: Format): Promise<Buffer> {
  const picture = await cdp.send("Page.captureScreenshot", {
    format,
    ...(format === "jpeg" && { quality: JPEG_QUALITY }),
    ...(area === undefined ? {} : { clip: { ...area, scale: 1 }, captureBeyondViewport: true }),
  });
  return Buffer.from(picture.data, "base64");
}

function byPlaywright(
  page: Page,
  { area, format }: { area: Rect | undefined; format: Format },
  signal: AbortSignal,
): Promise<Buffer> {
  const quality = format === "jpeg" ? { quality: JPEG_QUALITY } : {};
  const options = { type: format, ...quality, scale: "css", timeout: DEADLINE_MS, signal } as const;
  return page.screenshot(area === undefined ? options : { ...options, fullPage: true, clip: area });
}

function frameOf(bytes: Buffer, format: Format): Frame {
  const size = format === "png" ? sizeOfPng(bytes) : sizeOfJpeg(bytes);
  return { ...size, rotation: 0, mimeType: `image/${format}`, bytes, takenAt: new Date().toISOString() };
}

/** Width and height stand at fixed places of a PNG's first chunk (ISO/IEC 15948, 11.2.2). */
const sizeOfPng = (bytes: Buffer) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) });

/** They stand in the first frame header, after segments that say how long they are (ITU-T T.81, B.1.1.4, B.2.2). */
function sizeOfJpeg(bytes: Buffer): { width: number; height: number } {
  let at = 2;
  while (![0xffc0, 0xffc1, 0xffc2].includes(bytes.readUInt16BE(at))) at += 2 + bytes.readUInt16BE(at + 2);
  return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
}

// Runs in the page.
function documentExtent(): z.input<typeof boxSchema> {
  const root = document.scrollingElement ?? document.documentElement;
  return {
    x: scrollX,
    y: scrollY,
    width: Math.max(root.scrollWidth, innerWidth),
    height: Math.max(root.scrollHeight, innerHeight),
  };
}
