import type { CDPSession, Page } from "playwright-core";
import type { Frame, Rect, ScreenSource } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { untilAborted } from "../waiting/deadlines.ts";
import { locate } from "./locate.ts";
import { ask } from "./question.ts";
import type { DrivenSession } from "./session.ts";

const DEADLINE_MS = 15_000;
/** Chromium draws no texture that is larger. */
const LONGEST_SIDE = 16_384;

/** PNG in CSS pixels of the current tab. Does not wait for fonts or pictures: it shows what a user would see now. */
export function createScreen(session: DrivenSession): ScreenSource {
  return {
    capture(options, signal) {
      const question = { what: "the screenshot", silence: "gave no picture", ms: DEADLINE_MS, signal };
      return ask(session, question, async (limited) => {
        const page = session.page();
        const area = await areaOf(session, page, options, limited);
        const cdp = await session.signals(page).cdp();
        const taking = cdp === undefined ? byPlaywright(page, area, limited) : byDevTools(cdp, area);
        return frameOf(await untilAborted(taking, limited));
      });
    },
  };
}

/** In pixels of the whole document. Undefined: what is visible. */
async function areaOf(
  session: DrivenSession,
  page: Page,
  options: { fullPage?: boolean; area?: Rect; ref?: string },
  signal: AbortSignal,
): Promise<Rect | undefined> {
  if (options.ref === undefined && options.area === undefined && options.fullPage !== true) return undefined;
  const inView = options.ref === undefined ? options.area : await boxOf(session, options.ref, signal);
  const scroll = await untilAborted(page.evaluate(documentExtent), signal);
  if (inView === undefined) {
    return {
      x: 0,
      y: 0,
      width: Math.min(scroll.width, LONGEST_SIDE),
      height: Math.min(scroll.height, LONGEST_SIDE),
    };
  }
  // A full page's pixels count from the document's corner, the visible part's from the window's.
  const whole = options.ref === undefined && options.fullPage === true;
  const area = whole ? inView : { ...inView, x: inView.x + scroll.x, y: inView.y + scroll.y };
  return clipped(area, scroll);
}

async function boxOf(session: DrivenSession, ref: string, signal: AbortSignal): Promise<Rect> {
  const locator = await locate(session, { ref }, signal);
  await locator.scrollIntoViewIfNeeded({ timeout: DEADLINE_MS, signal });
  const box = await locator.boundingBox({ timeout: DEADLINE_MS, signal });
  if (box !== null) return box;
  throw new DeviceError(
    "ELEMENT_NOT_ACTIONABLE",
    `${ref} is hidden, so there is nothing to picture. Open what contains it first.`,
  );
}

function clipped(area: Rect, document: { width: number; height: number }): Rect {
  const x = Math.max(0, area.x);
  const y = Math.max(0, area.y);
  const width = Math.min(area.x + area.width, document.width) - x;
  const height = Math.min(area.y + area.height, document.height) - y;
  if (width > 0 && height > 0)
    return { x, y, width: Math.min(width, LONGEST_SIDE), height: Math.min(height, LONGEST_SIDE) };
  throw new DeviceError(
    "INVALID_PARAMS",
    `The area is outside of the page, which is ${document.width} x ${document.height} pixels. Give one inside it.`,
  );
}

async function byDevTools(cdp: CDPSession, area: Rect | undefined): Promise<Buffer> {
  const picture = await cdp.send("Page.captureScreenshot", {
    format: "png",
    ...(area === undefined ? {} : { clip: { ...area, scale: 1 }, captureBeyondViewport: true }),
  });
  return Buffer.from(picture.data, "base64");
}

function byPlaywright(page: Page, area: Rect | undefined, signal: AbortSignal): Promise<Buffer> {
  const options = { type: "png", scale: "css", timeout: DEADLINE_MS, signal } as const;
  return page.screenshot(area === undefined ? options : { ...options, fullPage: true, clip: area });
}

/** Width and height stand at fixed places of a PNG's first chunk (ISO/IEC 15948, 11.2.2). */
function frameOf(bytes: Buffer): Frame {
  return {
    mimeType: "image/png",
    bytes,
    width: bytes.readUInt32BE(16),
    height: bytes.readUInt32BE(20),
    takenAt: new Date().toISOString(),
  };
}

// Runs in the page.
function documentExtent() {
  const root = document.scrollingElement ?? document.documentElement;
  return {
    x: scrollX,
    y: scrollY,
    width: Math.max(root.scrollWidth, innerWidth),
    height: Math.max(root.scrollHeight, innerHeight),
  };
}
