import { describe, expect, it } from "vitest";
import { center, device, nodesBelow, phoneScreen, smallPhoneScreen } from "./uiDevice.ts";

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

  it("sells a lamp, as the shop in the web does", () => {
    const phone = opened(shop, screen);
    phone.tap("Account");
    phone.fill("User", "Anna");
    phone.fill("Password", "wrong");
    phone.tap("Log in");
    expect(phone.texts()).toContain("User or password is wrong");
    phone.ui.setText(phone.node("password"), "secret");
    phone.tap("Log in");
    expect(phone.texts()).toContain("Welcome, Anna");
    phone.tap("Shop");
    phone.tap("Lamp");
    expect(phone.texts()).toEqual(expect.arrayContaining(["40 €", "3 in stock"]));
    phone.tap("Buy");
    phone.tap("Buy");
    expect(phone.texts()).toContain("2 in the cart");
    phone.tap("Cart");
    phone.tap("More Lamp");
    expect(phone.node("total").text).toBe("120 €");
    phone.fill("Coupon", "SPRING");
    phone.tap("Use it");
    expect(phone.node("total").text).toBe("108 €");
    phone.tap("Check out");
    phone.fill("Email", "anna");
    phone.tap("Order");
    expect(phone.texts()).toContain("Email is wrong");
    phone.ui.setText(phone.node("email"), "anna@shop.test");
    phone.tap("Country");
    phone.tap("France");
    phone.tap("I accept the terms");
    phone.tap("Order");
    expect(phone.texts()).toEqual(expect.arrayContaining(["Your order goes to France", "0 in the cart"]));
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
  const firstRow = (phone: ReturnType<typeof device>) => phone.node("recycler_view").children[0]?.bounds.y;

  it("follows a slow finger by its pixels, and stops at its ends", () => {
    const phone = opened(settings);
    phone.ui.swipe(finger, { x: 540, y: 1700 }, 60_000);
    expect(phone.findNode("Bluetooth")?.bounds.y).toBe(230);
    expect(phone.node("recycler_view").canScroll).toEqual({ forward: true, backward: true });
    phone.ui.swipe({ x: 540, y: 600 }, finger, 60_000);
    expect(phone.node("recycler_view").canScroll).toEqual({ forward: true, backward: false });
    for (let swipes = 0; swipes < 12; swipes++) phone.ui.swipe(finger, { x: 540, y: 600 }, 60_000);
    expect(phone.node("recycler_view").canScroll).toEqual({ forward: false, backward: true });
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

  it("is longer than the screen, and keeps its place while another screen is above it", () => {
    const phone = opened(settings);
    phone.ui.swipe(finger, { x: 540, y: 900 }, 60_000);
    const before = firstRow(phone);
    phone.tap("Vibration");
    expect(phone.texts()).toContain("Vibration");
    expect(phone.ui.front().activity).toBe(".Page");
    phone.ui.key(4);
    expect(firstRow(phone)).toBe(before);
  });
});

describe("windows", () => {
  it("shows a keyboard for a field, which takes the touches where it is and writes", () => {
    const phone = at("labsamples://text");
    phone.tap("Note");
    expect(phone.ui.keyboardShown()).toBe(true);
    const keyboard = phone.ui.windows().find(({ kind }) => kind === "keyboard");
    for (const letter of ["h", "i"]) {
      const key = keyboard && nodesBelow(keyboard.root).find(({ text }) => text === letter);
      expect(key).toBeDefined();
      if (key) phone.ui.tap(center(key));
    }
    expect(phone.node("note").text).toBe("hi");
    phone.ui.key(4);
    expect(phone.ui.keyboardShown()).toBe(false);
    expect(phone.ui.front().activity).toBe(".Text");
  });

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

  it("puts a dialog before everything: only it is touched, and a touch beside it closes it", () => {
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

  it("asks for a permission once, and remembers what was said", () => {
    const phone = opened(samples);
    phone.tap("Take a picture");
    expect(phone.ui.active().packageName).toBe("com.android.permissioncontroller");
    phone.ui.key(4);
    expect(phone.texts()).toContain("Allow Samples to use camera?");
    phone.tap("Don’t allow");
    phone.tap("Take a picture");
    phone.tap("permission_allow_foreground_only_button");
    phone.tap("Take a picture");
    expect(phone.ui.toasts().map(({ text }) => text)).toEqual([
      "The camera is not allowed",
      "The camera is ready",
      "The camera is ready",
    ]);
    phone.ui.permission(samples, "android.permission.CAMERA", false);
    phone.tap("Take a picture");
    expect(phone.ui.active().kind).toBe("dialog");
  });

  it("shows a toast for two seconds, and tells of it", () => {
    const phone = opened(samples);
    phone.tap("Show a toast");
    expect(phone.ui.windows().at(-1)).toMatchObject({ kind: "toast", packageName: samples });
    expect(phone.texts()).not.toContain("Hello from a toast");
    phone.clock.pass(1_999);
    expect(phone.ui.toasts()).toHaveLength(1);
    phone.clock.pass(1);
    expect(phone.ui.toasts()).toHaveLength(0);
    expect(phone.events).toContainEqual({ type: "toast", packageName: samples, text: "Hello from a toast" });
  });

  it("opens the shade by a finger from above, and an app by its news", () => {
    const phone = opened(settings);
    phone.ui.swipe({ x: 500, y: 10 }, { x: 500, y: 900 }, 200);
    expect(phone.texts()).toContain("Notifications");
    phone.tap("Samples has news");
    expect(phone.ui.front().packageName).toBe(samples);
    expect(phone.ui.active().kind).toBe("application");
  });

  it("has a second display only where one was plugged in", () => {
    const phone = device(phoneScreen);
    expect(phone.ui.windows(1)).toEqual([]);
    phone.ui.faults.secondDisplay = { width: 800, height: 600 };
    expect(phone.ui.space(1)).toEqual({ width: 800, height: 600, rotation: 0 });
    expect(nodesBelow(phone.ui.active(1).root).map(({ text }) => text)).toContain("Second display");
  });
});

describe("apps", () => {
  it("tells what it started, how long that took, and what ran before", () => {
    const phone = device(phoneScreen);
    expect(phone.ui.running()).toEqual(["com.android.launcher3"]);
    phone.tap("Samples");
    expect(phone.events).toContainEqual({
      type: "started",
      packageName: samples,
      activity: ".Main",
      tookMs: 420,
      cold: true,
    });
    phone.ui.home();
    expect(phone.ui.start({ packageName: samples })).toBe("brought to front");
    expect(phone.ui.start({ packageName: samples, activity: ".Nope" })).toBe("no such activity");
    expect(phone.ui.start({ packageName: "nope" })).toBe("no such activity");
    phone.ui.key(187);
    expect(phone.texts()).toEqual(["Recent apps", "Samples"]);
  });

  it("goes to a screen by a link, back to the one below, and home from the first", () => {
    const phone = at("labshop://product/Chair");
    expect(phone.texts()).toEqual(expect.arrayContaining(["Chair", "80 €"]));
    phone.ui.key(4);
    expect(phone.ui.front().activity).toBe(".Main");
    phone.ui.key(4);
    expect(phone.ui.front().packageName).toBe("com.android.launcher3");
    expect(phone.ui.running()).toContain(shop);
    expect(phone.ui.open("labshop://nowhere")).toBeUndefined();
    expect(phone.ui.open("tel:112")).toBeUndefined();
  });

  it("says that an app has stopped, and that one does not respond until the user waits", () => {
    const phone = opened(samples);
    phone.tap("Crash");
    expect(phone.ui.active()).toMatchObject({
      kind: "dialog",
      packageName: "android",
      title: "Samples has stopped",
    });
    expect(phone.ui.running()).not.toContain(samples);
    expect(phone.events).toContainEqual(expect.objectContaining({ type: "crashed", packageName: samples }));
    phone.tap("aerr_close");
    phone.ui.start({ packageName: samples });
    phone.tap("Stop responding");
    expect(phone.texts()).toContain("Samples isn't responding");
    phone.tap("aerr_wait");
    phone.tap("Form");
    expect(phone.ui.front().activity).toBe(".Form");
  });

  it("stays where the user is when an app in the background ends", () => {
    const phone = opened(samples);
    phone.ui.start({ packageName: shop });
    phone.ui.crash(samples, "out of memory");
    expect(phone.ui.front().packageName).toBe(shop);
    phone.tap("aerr_close");
    phone.ui.stop(shop);
    expect(phone.ui.front().packageName).toBe("com.android.launcher3");
  });

  it("shows an app that was installed, and forgets one that was removed", () => {
    const phone = device(phoneScreen);
    phone.ui.install("org.example.new", "New app");
    phone.tap("New app");
    expect(phone.ui.front()).toEqual({ packageName: "org.example.new", activity: ".Main" });
    phone.ui.uninstall("org.example.new");
    expect(phone.ui.front().packageName).toBe("com.android.launcher3");
    expect(phone.texts()).not.toContain("New app");
  });

  it("plays on with the clock, pauses and skips by the keys of a remote", () => {
    const phone = at("labsamples://player");
    phone.ui.open("labsamples://main");
    expect(phone.ui.media()).toBeUndefined();
    phone.tap("Player");
    phone.clock.pass(12_000);
    expect(phone.node("position").text).toBe("0:12");
    phone.keys(90, 127);
    phone.clock.pass(5_000);
    expect(phone.ui.media()).toEqual({
      ...{ packageName: samples, title: "A long film", state: "paused", positionMs: 22_000 },
    });
    expect(phone.texts()).toEqual(expect.arrayContaining(["0:22", "Paused", "Play"]));
  });
});

describe("gestures and looks", () => {
  it("tells a tap from a hold, from two taps, from a drop and from two fingers", () => {
    const phone = at("labsamples://gestures");
    const target = center(phone.node("Hold or tap twice"));
    phone.ui.tap(target);
    expect(phone.node("last").text).toBe("tapped");
    phone.ui.tap(target);
    expect(phone.node("last").text).toBe("tapped twice");
    phone.ui.swipe(target, target, 800);
    expect(phone.node("last").text).toBe("held");
    phone.ui.drag(center(phone.node("parcel")), center(phone.node("box")));
    expect(phone.node("box").text).toBe("Box: full");
    phone.ui.pinch(center(phone.node("map")), 2);
    expect(phone.node("map").text).toBe("Map 200 %");
  });

  it("fills a form: a box, one of two, one of a list, and a slider by where the finger is", () => {
    const phone = at("labsamples://form");
    phone.tap("Send me news");
    phone.tap("Small");
    phone.tap("Large");
    expect(["news", "size_small", "size_large"].map((id) => phone.node(id).checked)).toEqual([
      true,
      false,
      true,
    ]);
    phone.tap("Color");
    expect(["Red", "Blue"].map((color) => phone.node(color).checked)).toEqual([true, false]);
    phone.tap("Blue");
    expect(phone.texts()).toContain("Blue");
    const { x, y, width } = phone.node("amount").bounds;
    phone.ui.tap({ x: x + width / 4, y: y + 20 });
    expect(phone.texts()).toContain("Amount 25");
  });

  it("has a button without any text, one with a description, and one without even an id", () => {
    const phone = device(phoneScreen);
    phone.ui.start({ packageName: samples, activity: ".Toolbar" });
    const [search, share, third] = phone.nodes().filter(({ clickable }) => clickable);
    expect([search?.text, search?.contentDescription]).toEqual([undefined, undefined]);
    expect(share?.contentDescription).toBe("Share");
    expect(third?.resourceId).toBeUndefined();
    if (third) phone.ui.tap(center(third));
    expect(phone.ui.toasts().at(-1)?.text).toBe("The third was tapped");
  });

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

  it("takes nothing while it is off", () => {
    const phone = opened(samples);
    phone.ui.key(26);
    expect(phone.ui.isOn).toBe(false);
    phone.tap("Form");
    phone.ui.key(3);
    expect(phone.ui.front()).toEqual({ packageName: samples, activity: ".Main" });
    phone.ui.key(224);
    phone.tap("Form");
    expect(phone.ui.front().activity).toBe(".Form");
  });

  it("tells nodes apart over time: the same key is the same node, whatever is around it", () => {
    const phone = opened(shop);
    const { key } = phone.node("Lamp");
    phone.ui.setText(phone.node("search"), "lamp");
    expect(phone.node("Lamp").key).toBe(key);
    phone.ui.stop(shop);
    phone.ui.start({ packageName: shop });
    expect(phone.node("Lamp").key).not.toBe(key);
  });
});
