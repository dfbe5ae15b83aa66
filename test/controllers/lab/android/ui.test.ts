import { describe, expect, it } from "vitest";
import { center, device, phoneScreen, smallPhoneScreen } from "./uiDevice.ts";

const shop = "dev.labwright.shop";
const samples = "dev.labwright.samples";
const settings = "com.android.settings";

const opened = (packageName: string, screen = phoneScreen) => {
  const phone = device(screen);
  phone.ui.start({ packageName });
  return phone;
};
const at = (uri: string) => {
  const phone = device(phoneScreen);
  phone.ui.open(uri);
  return phone;
};

describe.each([
  ["a phone", phoneScreen],
  ["a smaller phone", smallPhoneScreen],
])("%s", (_, screen) => {
  it("lays each app out within its screen, and no two rows of a list over each other", () => {
    const phone = device(screen);
    for (const { packageName } of phone.ui.apps()) {
      phone.ui.start({ packageName });
      for (const { bounds } of phone.nodes()) {
        expect(bounds.x).toBeGreaterThanOrEqual(0);
        expect(bounds.x + bounds.width).toBeLessThanOrEqual(screen.screen.width);
        expect(bounds.y + bounds.height).toBeLessThanOrEqual(screen.screen.height);
      }
    }
    phone.ui.start({ packageName: settings });
    const rows = phone.node("recycler_view").children;
    expect(rows.length).toBeGreaterThan(8);
    rows.slice(1).forEach(({ bounds }, index) => {
      const before = rows[index]?.bounds;
      expect(bounds.y).toBe((before?.y ?? 0) + (before?.height ?? 0));
    });
  });
});

it("keeps what an app stored over a restart, and loses it with its data", () => {
  const phone = opened(shop);
  phone.tap("Rug");
  phone.tap("Buy");
  phone.ui.stop(shop);
  phone.ui.start({ packageName: shop });
  expect(phone.texts()).toContain("1 in the cart");
  phone.ui.clearData(shop);
  phone.ui.start({ packageName: shop });
  expect(phone.texts()).toContain("0 in the cart");
});

describe("a list", () => {
  const finger = { x: 540, y: 1800 };
  it("follows a slow finger by its pixels, and stops at its ends", () => {
    const phone = opened(settings);
    phone.ui.swipe(finger, { x: 540, y: 1700 }, 60_000);
    expect(phone.findNode("Bluetooth")?.bounds.y).toBe(230);
    phone.ui.swipe({ x: 540, y: 600 }, finger, 60_000);
    for (let swipes = 0; swipes < 12; swipes++) phone.ui.swipe(finger, { x: 540, y: 600 }, 60_000);
    expect(phone.texts()).toContain("About phone");
    expect(phone.texts()).not.toContain("Wi-Fi");
  });

  it("runs on behind a quick finger, the further the quicker it was", () => {
    const runOf = (durationMs: number) => {
      const phone = opened(settings);
      const start = phone.node("Storage").bounds.y;
      phone.ui.swipe(finger, { x: 540, y: 1700 }, durationMs);
      return start - phone.node("Storage").bounds.y;
    };
    const [slow, quick, quicker] = [runOf(60_000), runOf(200), runOf(120)];
    expect(slow).toBe(100);
    expect(quick).toBeGreaterThan(110);
    expect(quicker).toBeGreaterThan(quick + 30);
  });
});

describe("windows", () => {
  it("keeps a field on its one line, however long its text is", () => {
    const phone = device(phoneScreen);
    phone.ui.start({ packageName: "dev.labwright.shop" });
    const { height } = phone.node("search").bounds;
    phone.tap("search");
    phone.ui.type("a".repeat(9_000));
    expect(phone.node("search")).toMatchObject({ bounds: { height }, text: "a".repeat(9_000) });
  });

  it("types what people write, shows dots for a secret, and erases whole signs", () => {
    const phone = at("labsamples://text");
    const hard = `"$(reboot)" 'é' 日本 👩‍🚀\n;`;
    phone.fill("Note", hard);
    expect(phone.node("echo").text).toBe(`You wrote: ${hard}`);
    expect(phone.node("pin").text).toBe("PIN");
    phone.fill("PIN", "1234");
    expect(phone.node("pin").text).toBe("••••");
    phone.tap("note");
    phone.keys(67, 67, 29);
    expect(phone.node("note").text).toBe(`${hard.slice(0, -2)}a`);
  });

  it("moves an app up for the field that the keyboard would hide, and covers with the one that a fault shows", () => {
    const phone = device({ ...phoneScreen, screen: { width: 1080, height: 1100, density: 420 } });
    phone.ui.open("labsamples://form");
    const bottom = (name: string) => phone.node(name).bounds.y + phone.node(name).bounds.height;
    phone.ui.swipe({ x: 540, y: 850 }, { x: 540, y: 400 }, 60_000);
    phone.tap("comment");
    const keyboard = phone.ui.windows().find(({ kind }) => kind === "keyboard");
    expect(bottom("comment")).toBeLessThanOrEqual(keyboard?.root.bounds.y ?? 0);
    const other = opened(samples);
    other.ui.faults.keyboardUp = true;
    const hidden = other.node("Delete notes");
    expect(other.ui.keyboardShown()).toBe(true);
    other.ui.tap(center(hidden));
    expect(other.ui.active().kind).toBe("application");
  });

  it("puts a dialog before everything: only it is touched, and a touch outside it closes it", () => {
    const phone = opened(samples);
    const form = center(phone.node("Form"));
    phone.tap("Delete notes");
    expect(phone.ui.active()).toMatchObject({ kind: "dialog", title: "Delete all notes?" });
    phone.ui.tap(form);
    expect(phone.ui.active().kind).toBe("application");
    expect(phone.ui.front().activity).toBe(".Main");
    phone.tap("Delete notes");
    phone.tap("Delete");
    expect(phone.ui.toasts().map(({ text }) => text)).toEqual(["All notes were deleted"]);
  });
});

describe("apps", () => {
  it("stays where the user is when an app in the background ends", () => {
    const phone = opened(samples);
    phone.ui.start({ packageName: shop });
    phone.ui.crash(samples, "out of memory");
    expect(phone.ui.front().packageName).toBe(shop);
    phone.tap("aerr_close");
    phone.ui.stop(shop);
    expect(phone.ui.front().packageName).toBe("com.android.launcher3");
  });
});

describe("a layout", () => {
  it("lays out anew when it is turned, when texts grow and when the language changes", () => {
    const phone = opened(settings);
    const before = phone.node("title").bounds;
    phone.ui.configure({ fontScale: 2 });
    expect(phone.node("title").bounds.height).toBeGreaterThan(before.height * 1.5);
    phone.ui.configure({ fontScale: 1, locale: "de-AT" });
    expect(phone.texts()).toEqual(expect.arrayContaining(["Einstellungen", "Flugmodus"]));
    phone.ui.rotate(90);
    expect(phone.ui.space()).toEqual({ width: 2400, height: 1080, rotation: 90 });
    expect(phone.node("title").bounds.width).toBe(2400);
  });

  it("keeps the key of a node while it is there, and never gives it to another node", () => {
    const phone = opened(shop);
    const { key } = phone.node("Lamp");
    phone.ui.setText(phone.node("search"), "lamp");
    expect(phone.node("Lamp").key).toBe(key);
    phone.ui.stop(shop);
    phone.ui.start({ packageName: shop });
    expect(phone.node("Lamp").key).not.toBe(key);
  });
});
