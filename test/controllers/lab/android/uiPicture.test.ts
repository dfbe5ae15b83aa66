import { expect, it } from "vitest";
import { device, phoneScreen, tvScreen } from "./uiDevice.ts";

type Picture = { width: number; height: number; rgba: Uint8Array };
type Rect = { x: number; y: number; width: number; height: number };

const colorsIn = ({ width, rgba }: Picture, rect: Rect): Set<string> => {
  const colors = new Set<string>();
  for (let y = rect.y; y < rect.y + rect.height; y++) {
    for (let x = rect.x; x < rect.x + rect.width; x++) {
      colors.add(Buffer.from(rgba.subarray((y * width + x) * 4, (y * width + x) * 4 + 3)).toString("hex"));
    }
  }
  return colors;
};
const corner = (rect: Rect): Rect => ({ x: rect.x + rect.width - 12, y: rect.y + 4, width: 4, height: 4 });

it("draws each text where its node is, and nothing where none is", async () => {
  const phone = device(phoneScreen);
  phone.ui.start({ packageName: "dev.labwright.shop" });
  const picture = await phone.ui.picture();
  expect(picture).toMatchObject({ width: 1080, height: 2400, isSecure: false });
  expect(picture.rgba).toHaveLength(1080 * 2400 * 4);
  for (const name of ["Shop", "title", "search", "Lamp", "80 €"]) {
    expect(colorsIn(picture, phone.node(name).bounds).size).toBeGreaterThan(5);
  }
  expect([...colorsIn(picture, { x: 0, y: 1600, width: 1080, height: 300 })]).toEqual(["ffffff"]);
});

it("draws the same screen once, and another one anew", async () => {
  const phone = device(phoneScreen);
  const [first, second] = [await phone.ui.picture(), await phone.ui.picture()];
  expect(second.rgba).toBe(first.rgba);
  phone.tap("Samples");
  expect((await phone.ui.picture()).rgba).not.toBe(first.rgba);
});

it("is dark at night, black while it is off, and black where a window is secret", async () => {
  const phone = device(phoneScreen);
  phone.ui.open("labsamples://secret");
  const app = phone.ui.active().root.bounds;
  const secret = await phone.ui.picture();
  expect(secret.isSecure).toBe(true);
  expect([...colorsIn(secret, app)]).toEqual(["000000"]);
  phone.ui.open("labsamples://form");
  phone.ui.configure({ night: true });
  const dark = await phone.ui.picture();
  expect([...colorsIn(dark, corner(phone.node("title").bounds))]).toEqual(["111111"]);
  phone.ui.power(false);
  const off = await phone.ui.picture();
  expect([...colorsIn(off, { x: 0, y: 0, width: 1080, height: 2400 })]).toEqual(["000000"]);
});

it("shows the focus of a television, and what lies above the rest", async () => {
  const tv = device(tvScreen);
  const ring = "d97706";
  expect(colorsIn(await tv.ui.picture(), tv.node("Search").bounds)).toContain(ring);
  tv.keys(22);
  expect(colorsIn(await tv.ui.picture(), tv.node("Search").bounds)).not.toContain(ring);
  const phone = device(phoneScreen);
  phone.tap("Samples");
  phone.tap("Delete notes");
  const { bounds } = phone.ui.active().root;
  expect(colorsIn(await phone.ui.picture(), corner(bounds))).toContain("ffffff");
  expect(bounds.width).toBeLessThan(1080);
});

it("moves as long as something on it is never at rest, by the clock", async () => {
  const phone = device(phoneScreen);
  phone.ui.faults.neverIdle = true;
  const before = await phone.ui.picture();
  phone.clock.pass(400);
  expect(phone.ui.isIdle()).toBe(false);
  expect(Buffer.compare((await phone.ui.picture()).rgba, before.rgba)).not.toBe(0);
});
