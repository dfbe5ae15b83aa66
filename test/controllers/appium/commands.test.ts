import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeviceError } from "@labwright/controllers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { appleTv, iphone, type LabIos, startLabIos } from "../../lab/ios/index.ts";
import { never, portOf } from "../android/openAndroid.ts";
import { expectFling, expectGestures } from "./gestures.ts";
import { openAppium } from "./openAppium.ts";

const shop = { package: "dev.labwright.shop" };
const settings = { package: "com.apple.Preferences" };

let lab: LabIos;
let phone: Awaited<ReturnType<typeof openAppium>>;
beforeAll(async () => {
  lab = await startLabIos({ persona: iphone });
});
afterAll(() => lab.close());
beforeEach(async () => {
  lab.ui.clearData(shop.package);
  lab.ui.stop("com.android.settings");
  lab.ui.home();
  phone = await openAppium({ url: lab.url, capabilities: { platformName: "iOS" } });
});
afterEach(() => phone.close());

it("pages in WebViews are not read, and the device says so", () => {
  expect(phone.remote.withheld?.()).toContainEqual({
    name: "switch_context",
    reason: expect.stringContaining("on Android only"),
  });
});

describe("elements", () => {
  it("have the roles, names, values and states of the shop's widgets", async () => {
    await phone.run("open_app", { app: shop });
    expect(await phone.lines()).toEqual([
      'button "Shop"',
      'button "Cart"',
      'button "Account"',
      'text "0 in the cart"',
      'text "Shop"',
      'textbox "Search" = ',
      'button "Sort"',
      'switch "In stock only"',
      'list "products"',
      'listitem "Chair"',
      'listitem "Lamp"',
      'listitem "Rug"',
      'listitem "Table"',
    ]);
  });

  it("say where they are, in points, and the space of the screen", async () => {
    await phone.run("open_app", { app: shop });
    const { space, location, elements } = await phone.dump();
    expect(space).toEqual({ width: 390, height: 844, rotation: 0 });
    expect(location).toBe(shop.package);
    for (const { rect } of elements) {
      expect(rect?.x).toBeGreaterThanOrEqual(0);
      expect((rect?.x ?? 0) + (rect?.width ?? 0)).toBeLessThanOrEqual(390);
    }
  });

  it("have selectors that find them again, ids first", async () => {
    await phone.run("open_app", { app: shop });
    const ref = await phone.refOf("Search");
    const [selectors] = await portOf(phone.remote.elements).selectors([ref], never);
    expect(selectors?.[0]).toMatchObject({ kind: "id", selector: "id=search", unique: true });
    for (const { selector } of selectors ?? []) {
      await phone.holds("element_exists", { selector });
    }
  });
});

describe("commands", () => {
  it("buy a lamp: click, type, and the checks see it", async () => {
    await phone.run("open_app", { app: shop });
    await phone.run("input_text", { selector: "Search", text: "LAMP" });
    await phone.holds("element_value", { selector: "Search", value: "LAMP" });
    await phone.holds("element_focused", { selector: "Search" });
    await phone.holds("keyboard_shown");
    await phone.holds("element_hidden", { selector: "Chair" });
    await phone.run("click_element", { selector: "Lamp" });
    await phone.run("click_element", { selector: "Buy" });
    await phone.run("click_element", { selector: "Cart" });
    await phone.run("click_element", { selector: "More Lamp" });
    await phone.holds("text_visible", { text: "80 €" });
    expect(lab.ui.front().packageName).toBe(shop.package);
  });

  it.each([
    'it\'s "$(reboot)" `x`; \\n',
    "grüße 日本 👍🏽",
    "<a href='//x'>&amp;</a>",
  ])("type %j as it stands", async (text) => {
    await phone.run("open_app", { app: shop });
    await phone.run("input_text", { selector: "Search", text: "before" });
    await phone.run("input_text", { selector: "Search", text });
    expect(
      await phone.read("element_value", { selector: "Search", value: text, match: "exact" }),
    ).toMatchObject({
      holds: true,
    });
    await phone.run("type_text", { text: "x" });
    expect(
      await phone.read("element_value", { selector: "Search", value: `${text}x`, match: "exact" }),
    ).toMatchObject({
      holds: true,
    });
    await phone.run("clear_text", { selector: "Search" });
    await phone.holds("element_value", { selector: "Search", value: "" });
  });

  it("type passwords, of which only dots can be read", async () => {
    await phone.run("open_app", { app: shop });
    await phone.run("click_element", { selector: "Account" });
    await phone.run("input_text", { selector: "User", text: "anna" });
    await phone.run("input_text", { selector: "Password", text: "secret" });
    await phone.holds("element_value", { selector: "Password", value: "••••••" });
    await phone.run("click_element", { selector: "Log in" });
    await phone.holds("text_visible", { text: "Welcome, anna" });
  });

  it("scroll to an element, to the end of a list and back", async () => {
    await phone.run("open_app", { app: settings });
    await phone.run("scroll_to_element", { selector: "About phone" });
    await phone.holds("element_visible", { selector: "About phone" });
    await phone.run("scroll", { direction: "top" });
    await phone.holds("element_visible", { selector: "Wi-Fi" });
    expect((await phone.run("scroll", { direction: "up" })).message).toMatch(/^nothing scrolled/);
    expect((await phone.run("scroll", { direction: "down" })).message).toBe("scrolled down");
    await phone.holds("element_visible", { selector: "Wi-Fi" }, false);
  });

  it("tap by pixels of a picture, which iOS has three of for a point", async () => {
    await phone.run("open_app", { app: settings });
    const { elements } = await phone.dump();
    const rect = elements.find(({ name }) => name === "Apps")?.rect;
    const picture = await portOf(phone.remote.screen).capture({}, never);
    expect(picture).toMatchObject({ width: 1170, height: 2532, rotation: 0, mimeType: "image/png" });
    await phone.run("tap", { x: 3 * ((rect?.x ?? 0) + 20), y: 3 * ((rect?.y ?? 0) + 20) });
    await phone.holds("element_hidden", { selector: "Wi-Fi" });
    await phone.run("go_back");
    await phone.holds("element_visible", { selector: "Wi-Fi" });
    const ref = await phone.refOf("Apps");
    const part = await portOf(phone.remote.screen).capture({ ref, format: "jpeg" }, never);
    expect(part).toMatchObject({ width: 3 * (rect?.width ?? 0), height: 3 * (rect?.height ?? 0) });
  });

  it("open, close, install and remove apps, and the checks know", async () => {
    await phone.run("open_app", { app: shop });
    await phone.holds("app_shown", { app: shop });
    await phone.run("go_home");
    await phone.holds("app_shown", { app: shop }, false);
    await phone.holds("app_running", shop);
    expect((await phone.run("close_app", { app: shop })).message).toBe(`closed ${shop.package}`);
    await phone.holds("app_running", shop, false);
    expect(await phone.run("close_app", { app: shop })).toEqual({
      message: `${shop.package} was not open`,
      isNews: true,
    });
    await phone.run("install_app", { app: "/apps/com.example.notes.ipa" });
    await phone.run("open_app", { app: { package: "com.example.notes" } });
    expect(lab.ui.front().packageName).toBe("com.example.notes");
    await phone.run("uninstall_app", { package: "com.example.notes" });
    await expect(phone.run("open_app", { app: { package: "com.example.notes" } })).rejects.toMatchObject({
      code: "APP_NOT_INSTALLED",
    });
  });

  it("install an app by a cloud's name of it, and by an address only as the policy allows", async () => {
    await phone.close();
    const allowUrl = () => {
      throw new DeviceError("URL_DENIED", "The policy denies it.");
    };
    phone = await openAppium({ url: lab.url, capabilities: { platformName: "iOS" } }, { allowUrl });
    const notes = "com.example.notes.ipa";
    await expect(phone.run("install_app", { app: `https://apps.example/${notes}` })).rejects.toMatchObject({
      code: "URL_DENIED",
    });
    await phone.run("install_app", { app: `bs://${notes}` });
    await phone.run("uninstall_app", { package: "com.example.notes" });
  });

  it("turn the screen, and whoever comes next finds it as it was", async () => {
    await phone.run("open_app", { app: shop });
    expect(await phone.run("rotate", { to: "landscape" })).toMatchObject({
      message: "the screen is in landscape",
      data: { orientation: "landscape" },
    });
    await phone.holds("orientation_is", { orientation: "landscape" });
    expect((await phone.dump()).space).toEqual({ width: 844, height: 390, rotation: 90 });
    phone.remote.handOver?.();
    await phone.remote.open(never);
    expect(lab.ui.space()).toMatchObject({ width: 390, height: 844 });
  });

  it("that cannot be set back is tried once, and the device can be used", async () => {
    await phone.run("set_geolocation", { latitude: 48.8584, longitude: 2.2945 });
    lab.faults.unknown = "resetSimulatedLocation";
    phone.remote.handOver?.();
    await expect(phone.remote.open(never)).rejects.toMatchObject({ code: "DEVICE_ERROR" });
    await phone.remote.open(never);
    await phone.lines();
    delete lab.faults.unknown;
  });

  it("keep a text in the clipboard", async () => {
    await phone.run("write_clipboard", { text: "grüße" });
    expect(await phone.run("read_clipboard")).toMatchObject({ data: { value: "grüße" } });
  });

  it("hold an element, and hide the keyboard", async () => {
    await phone.run("open_app", { app: shop });
    await phone.run("click_element", { selector: "Search" });
    await phone.run("hide_keyboard");
    expect(lab.ui.keyboardShown()).toBe(false);
    expect(await phone.run("hide_keyboard")).toMatchObject({ message: "no keyboard is shown" });
    expect(await phone.run("long_press", { selector: "Lamp" })).toMatchObject({
      message: 'held listitem "Lamp"',
    });
  });

  it("answer a dialog that is open, and the next one", async () => {
    await phone.run("open_app", { app: shop });
    lab.ui.crash(shop.package, "for the test");
    const { notices, elements } = await phone.dump();
    expect(notices[0]).toContain("handle_dialog answers it");
    expect(elements.map(({ name }) => name)).toContain("Close app");
    expect(await phone.run("handle_dialog", { accept: false })).toMatchObject({
      message: expect.stringContaining("dismissed the dialog"),
    });
    expect((await phone.dump()).notices).toEqual([]);
    await phone.run("handle_dialog", { accept: false });
    await phone.run("open_app", { app: shop });
    lab.ui.crash(shop.package, "again");
    expect((await phone.dump()).notices).toEqual([]);
  });
});

describe("apps and their files", () => {
  it("are installed or not, and a file goes to one and comes back", async () => {
    await phone.holds("app_installed", shop);
    await phone.holds("app_installed", { package: "com.nope" }, false);
    const folder = await mkdtemp(join(tmpdir(), "labwright-files-"));
    await phone.close();
    phone = await openAppium(
      { url: lab.url, capabilities: { platformName: "iOS" } },
      { uploadPath: (name) => join(folder, name), temporaryFolder: async () => folder },
    );
    await writeFile(join(folder, "note.txt"), "grüße");
    const to = `@${shop.package}:documents/note.txt`;
    await expect(phone.run("push_file", { file: "note.txt" })).rejects.toMatchObject({
      code: "INVALID_PARAMS",
      message: expect.stringContaining("@com.example.shop:documents/note.txt"),
    });
    await expect(phone.run("push_file", { file: "none.txt", to })).rejects.toMatchObject({
      code: "INVALID_PARAMS",
    });
    await phone.run("push_file", { file: "note.txt", to });
    const { file = "" } = await phone.run("pull_file", { path: to });
    expect(await readFile(file, "utf8")).toBe("grüße");
    await expect(phone.run("pull_file", { path: `${to}.none` })).rejects.toMatchObject({
      code: "DEVICE_ERROR",
      message: expect.stringContaining("does not exist"),
    });
    await rm(folder, { recursive: true });
  });

  it("cannot be cleared or given permissions on iOS, which is said", () => {
    const withheld = portOf(phone.remote.withheld)();
    for (const name of ["clear_app", "grant_permission", "revoke_permission"])
      expect(withheld).toContainEqual({ name, reason: expect.stringContaining("Uninstall") });
  });
});

describe("the log behind a mark", () => {
  it("is judged from there on, crashes too, and not where it has a gap", async () => {
    const crashes = () => phone.read("no_crash_since", {});
    const started = (text = `${shop.package}>] Bootstrap`) => phone.read("log_contains", { text });
    lab.ui.start({ packageName: shop.package });
    expect(await crashes()).toMatchObject({ inconclusive: expect.stringContaining("mark_logs") });
    lab.ui.crash(shop.package, "before the mark");
    await phone.run("handle_dialog", { accept: false });
    await phone.run("mark_logs");
    expect(await crashes()).toMatchObject({ holds: true });
    expect(await started()).toMatchObject({ holds: false });
    lab.ui.start({ packageName: shop.package });
    expect(await started()).toMatchObject({ holds: true });
    lab.ui.crash(shop.package, "behind the mark");
    await phone.holds("no_crash_since", { package: "com.other" });
    expect(await crashes()).toMatchObject({
      holds: false,
      actual: expect.stringContaining(`${shop.package} crashed`),
    });
    await phone.run("mark_logs");
    lab.endSession();
    await expect(crashes()).rejects.toMatchObject({ code: "TRANSPORT_LOST" });
    await phone.remote.open(never);
    expect(await crashes()).toMatchObject({ inconclusive: expect.stringContaining("does not reach back") });
    phone.remote.handOver?.();
    expect(await crashes()).toMatchObject({ inconclusive: expect.stringContaining("mark_logs") });
    await phone.run("handle_dialog", { accept: false });
  });
});

describe("gestures", () => {
  it("drag, pinch, hold, tap twice and fling", async () => {
    await expectGestures(phone, "");
    await expectFling(phone, settings);
  });

  it("hold OK on a TV, and what only fingers do is withheld", async () => {
    const living = await startLabIos({ persona: appleTv });
    const tv = await openAppium({ url: living.url, capabilities: { platformName: "tvOS" } });
    const withheld = portOf(tv.remote.withheld)().map(({ name }) => name);
    expect(withheld).toEqual(expect.arrayContaining(["tap", "swipe", "fling", "drag", "pinch"]));
    expect(withheld).not.toContain("long_press");
    const [first] = (await tv.dump()).elements.filter(({ interactive }) => interactive);
    const { message } = await tv.run("long_press", { ref: first?.ref });
    expect(message).toContain("held OK on");
    await expect(tv.run("long_press", { x: 1, y: 1 })).rejects.toMatchObject({ code: "INVALID_PARAMS" });
    await tv.close();
    await living.close();
  });
});

describe("links", () => {
  it("open in the app whose deep_link has their scheme, else only where the configuration allows it", async () => {
    const inApp = { app: () => ({ name: "shop", package: shop.package, deep_link: "labshop://shop" }) };
    await phone.close();
    phone = await openAppium({ url: lab.url, capabilities: { platformName: "iOS" } }, inApp);
    await phone.run("open_deep_link", { url: "labshop://product/Lamp" });
    await phone.holds("text_visible", { text: "40 €" });
    await expect(phone.run("open_deep_link", { url: "labsettings://about" })).rejects.toMatchObject({
      code: "URL_DENIED",
    });
  });

  it.each(["tel:112", "sms:1", "facetime:x", "file:///etc/passwd"])("never of %s", async (url) => {
    await expect(phone.run("open_deep_link", { url })).rejects.toMatchObject({ code: "URL_DENIED" });
  });
});
