import type { Frame, Rect, ScreenSource } from "@labwright/controllers";
import type { CDPSession, Page } from "playwright-core";
import sharp from "sharp";
import { beforeAll, describe, expect, it } from "vitest";
import { rectIn } from "#controllers/spaces.ts";
import { createScreen } from "#controllers/web/ports/screen.ts";
import { openForTests } from "./seeSession.ts";

const NEVER = new AbortController().signal;
const page = `<body style="margin:0;height:3000px;background:#fff">
  <button style="position:absolute;left:101px;top:1203px;width:50px;height:30px;background:#f00;border:0;padding:0">Go</button>`;

/** Whether a pixel of a picture is the button's. */
async function readPixels({ bytes, width, height }: Frame) {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  expect([info.width, info.height]).toEqual([width, height]);
  return (x: number, y: number) => {
    const [red = 0, green = 255] = data.subarray((y * width + x) * 3, (y * width + x) * 3 + 2);
    return red > 200 && green < 60;
  };
}

async function expectButtonAt(frame: Frame, { x, y, width, height }: Rect): Promise<void> {
  const isRed = await readPixels(frame);
  expect([isRed(x, y), isRed(x + width - 1, y + height - 1)]).toEqual([true, true]);
  expect([isRed(x - 1, y), isRed(x, y - 1), isRed(x + width, y), isRed(x, y + height)]).not.toContain(true);
}

describe.each([
  { dots: 1, by: "devtools", ratio: 1 },
  { dots: 2, by: "devtools", ratio: 2 },
  { dots: 2, by: "playwright", ratio: 1 },
])("A page on a screen with $dots dots for a CSS pixel, pictured by $by", ({ dots, by, ratio }) => {
  const see = openForTests(`--force-device-scale-factor=${dots}`);
  let screen: ScreenSource;
  const cdp = (shown: Page): Promise<CDPSession | undefined> =>
    by === "devtools" ? shown.context().newCDPSession(shown) : Promise.resolve(undefined);
  beforeAll(async () => {
    screen = createScreen({ ...see.session, signals: (shown) => ({ cdp: () => cdp(shown) }) });
    await see.page.setContent(page);
    await see.page.evaluate("scrollTo(0, 900)");
  });

  const look = async () => {
    const { elements, space } = await see.look.dump({ interactiveOnly: true }, NEVER);
    const [button] = elements;
    if (!button?.rect) throw new Error("the button is not seen");
    return { ref: button.ref, rect: button.rect, space };
  };

  it("shows an element where its dump says, in the space of the picture", async () => {
    const { rect, space } = await look();
    expect(space).toEqual({ width: 1280, height: 720, rotation: 0 });
    const frame = await screen.capture({}, NEVER);
    expect(frame).toMatchObject({ width: 1280 * ratio, height: 720 * ratio, rotation: 0 });
    await expectButtonAt(frame, rectIn(frame, rect, space));
  });

  it("pictures an area that is in pixels of the whole picture", async () => {
    const { rect, space } = await look();
    const whole = await screen.capture({}, NEVER);
    const { x, y, width, height } = rectIn(whole, rect, space);
    const area = { x: x - 8, y: y - 4, width: width + 16, height: height + 8 };
    const frame = await screen.capture({ area }, NEVER);
    expect(frame).toMatchObject({ width: area.width, height: area.height });
    await expectButtonAt(frame, { x: 8, y: 4, width, height });
  });

  it("pictures the full page, an area of it, and one element", async () => {
    const full = await screen.capture({ fullPage: true }, NEVER);
    expect(full).toMatchObject({ width: 1280 * ratio, height: 3000 * ratio });
    const place = { x: 101 * ratio, y: 1203 * ratio, width: 50 * ratio, height: 30 * ratio };
    await expectButtonAt(full, place);
    const area = { x: place.x - 2, y: place.y - 2, width: place.width + 4, height: place.height + 4 };
    const part = await screen.capture({ fullPage: true, area }, NEVER);
    await expectButtonAt(part, { x: 2, y: 2, width: place.width, height: place.height });
    const { ref } = await look();
    const { width, height } = await screen.capture({ ref }, NEVER);
    expect([width, height]).toEqual([place.width, place.height]);
  });

  it("gives a JPEG where that is allowed, of the same size", async () => {
    const frame = await screen.capture({ format: "jpeg" }, NEVER);
    expect(frame).toMatchObject({ mimeType: "image/jpeg", width: 1280 * ratio, height: 720 * ratio });
    expect(await sharp(frame.bytes).metadata()).toMatchObject({ format: "jpeg", width: frame.width });
  });

  it("refuses to place an element of the window in a picture of the full page", async () => {
    const { rect, space } = await look();
    const full = await screen.capture({ fullPage: true }, NEVER);
    expect(() => rectIn(full, rect, space)).toThrow(expect.objectContaining({ code: "SPACE_MISMATCH" }));
  });
});
