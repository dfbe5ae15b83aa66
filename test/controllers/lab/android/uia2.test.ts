import { connect } from "node:net";
import sharp from "sharp";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { delayOf, documentedDelays } from "../../../lab/android/personas/delays.ts";
import { ManualClock } from "../../../lab/android/ui/manualClock.ts";
import { startUia2 } from "../../../lab/android/uia2/server.ts";
import { session } from "./uia2Client.ts";
import { center, device, phoneScreen } from "./uiDevice.ts";

const samples = "dev.labwright.samples";
const settingsApp = "com.android.settings";

describe("a session", () => {
  it("is told of, refuses what it does not know, and ends the instrumentation with itself", async () => {
    const { server, id, send, get } = await session();
    expect((await send("GET", "/status")).value).toMatchObject({ ready: true });
    expect((await send("GET", "/sessions")).value).toEqual([{ id }]);
    expect(await get("/no/such/thing")).toMatchObject({ status: 404, error: "unknown command" });
    expect(await send("GET", "/session/other/source")).toMatchObject({
      error: "invalid session id",
    });
    expect((await send("POST", "/session", {})).error).toBe("session not created");
    expect((await send("DELETE", `/session/${id}`)).status).toBe(200);
    expect(await server.ended).toBe("session deleted");
    await expect(send("GET", "/status")).rejects.toThrow("fetch failed");
    expect(server.requests.filter(({ status }) => status >= 400)).toHaveLength(3);
  });

  it("says what the device is", async () => {
    const { ui, get } = await session();
    expect((await get("/appium/device/info")).value).toMatchObject({
      ...{ apiVersion: "34", realDisplaySize: "1080x2400", displayDensity: 420 },
    });
    expect((await get("/appium/device/pixel_ratio")).value).toBe(2.625);
    expect((await get("/appium/device/system_bars")).value).toEqual({ statusBar: 63 });
    expect((await get("/window/current/size")).value).toEqual({ width: 1080, height: 2400 });
    ui.rotate(90);
    expect((await get("/rotation")).value).toEqual({ x: 0, y: 0, z: 90 });
  });

  it("lists displays and their windows", async () => {
    const { ui, post } = await session();
    ui.faults.secondDisplay = { width: 800, height: 600 };
    expect((await post("/appium/list_displays")).value).toMatchObject([
      { id: 0, isDefault: true, metrics: { widthPixels: 1080, heightPixels: 2400, density: 2.625 } },
      { id: 1, isDefault: false, metrics: { widthPixels: 800 } },
    ]);
    const { value } = await post("/appium/list_windows", { filters: {}, skipScreenshots: true });
    expect(value).toContainEqual(
      expect.objectContaining({ displayId: 1, rect: { left: 0, top: 0, right: 800, bottom: 600 } }),
    );
  });

  it("turns the device by orientation and by rotation", async () => {
    const { ui, get, post } = await session();
    await post("/orientation", { orientation: "LANDSCAPE" });
    expect(ui.space()).toEqual({ width: 2400, height: 1080, rotation: 90 });
    expect((await get("/orientation")).value).toBe("LANDSCAPE");
    await post("/rotation", { x: 0, y: 0, z: 0 });
    expect((await get("/orientation")).value).toBe("PORTRAIT");
    expect(await post("/orientation", { orientation: "SIDEWAYS" })).toMatchObject({
      ...{ status: 400, error: "invalid argument" },
    });
  });
});

it("a request takes as long as is documented, by the device's clock", async () => {
  const { ui } = device(phoneScreen);
  const clock = new ManualClock();
  const delayMs = (request: string) => delayOf(documentedDelays, `request ${request}`, 34);
  const server = await startUia2(ui, { clock, delayMs });
  onTestFinished(() => server.close());
  const ask = async (method: string, path: string) => {
    const body = { capabilities: { firstMatch: [{}], alwaysMatch: {} }, offset: { x: 1, y: 1 } };
    const sending = fetch(`http://127.0.0.1:${server.httpPort}${path}`, {
      method,
      ...(method === "POST" && { body: JSON.stringify(body) }),
    });
    await expect.poll(() => clock.waiting).toBe(1);
    const answered = server.requests.length;
    for (let ms = 1; ; ms++) {
      clock.pass(1);
      if (clock.waiting > 0) continue;
      const { value } = z.object({ value: z.unknown() }).parse(await (await sending).json());
      expect(server.requests).toHaveLength(answered + 1);
      return { ms, value };
    }
  };
  const { ms, value } = await ask("POST", "/session");
  expect(ms).toBe(30);
  const { sessionId } = z.object({ sessionId: z.string() }).parse(value);
  expect(await ask("GET", `/session/${sessionId}/source`)).toMatchObject({ ms: 1_000 });
  expect(await ask("POST", `/session/${sessionId}/appium/gestures/click`)).toMatchObject({ ms: 100 });
});

describe("the source", () => {
  it("has classes as tags, the size without the bar below, and the attributes in the server's order", async () => {
    const { ui, source } = await session();
    ui.open("labsamples://text");
    const value = await source();
    expect(value).toMatch(
      /^<\?xml version='1.0' encoding='UTF-8' standalone='yes' \?>\n<hierarchy index="0" class="hierarchy" rotation="0" width="1080" height="2274">\n {2}<android.widget.FrameLayout index="0" package="dev.labwright.samples"/,
    );
    expect(value).toContain(
      `<android.widget.EditText index="1" package="dev.labwright.samples" class="android.widget.EditText" text="Note" resource-id="dev.labwright.samples:id/note" checkable="false" checked="false" clickable="true" enabled="true" focusable="true" focused="false" long-clickable="true" password="false" scrollable="false" selected="false" bounds="[0,162][1080,309]" displayed="true" hint="Note" showing-hint="true" />`,
    );
  });

  it("shows a web view as a node, and escapes what people write", async () => {
    const { ui, post, source, find } = await session();
    ui.open("labsamples://web");
    expect(await source()).toContain("<android.webkit.WebView ");
    ui.open("labsamples://text");
    const hard = `<a & "b">\n'c' 👩‍🚀\u0007`;
    await post(`/element/${await find("id", "note")}/value`, { text: hard, replace: false });
    expect(await source()).toContain(`text="&lt;a &amp; &quot;b&quot;&gt;&#10;'c' 👩‍🚀?"`);
    expect((await post("/element", { strategy: "id", selector: "note" })).status).toBe(200);
  });

  it("has only the window in front, all of them when asked, and a toast as long as it is remembered", async () => {
    const { ui, clock, source, find, textOf, settings, tap } = await session();
    ui.start({ packageName: samples });
    tap("Delete notes");
    expect(await source()).not.toContain('text="Samples"');
    await settings({ enableMultiWindows: true });
    const all = await source();
    for (const part of ['text="Samples"', 'text="Delete all notes?"', 'content-desc="Overview"']) {
      expect(all).toContain(part);
    }
    tap("Delete");
    clock.pass(3_000);
    const toast = await find("xpath", "//android.widget.Toast");
    expect(await textOf(toast)).toBe("All notes were deleted");
    clock.pass(1_000);
    expect(await source()).not.toContain("android.widget.Toast");
  });

  it("leaves layouts out that say nothing, and ends at the depth that is asked for", async () => {
    const { ui, source, settings } = await session();
    ui.start({ packageName: settingsApp });
    const layouts = async () => (await source()).split("<android.widget.FrameLayout").length - 1;
    expect(await layouts()).toBe(2);
    await settings({ ignoreUnimportantViews: true });
    expect(await layouts()).toBe(1);
    await settings({ ignoreUnimportantViews: false, snapshotMaxDepth: 2 });
    expect(await source()).not.toContain("TextView");
  });

  it("takes as long as the screen does not rest, if it may", async () => {
    const { ui, clock, get, settings } = await session();
    ui.faults.neverIdle = true;
    const slow = get("/source");
    await expect.poll(() => clock.waiting).toBe(1);
    clock.pass(9_999);
    expect(clock.waiting).toBe(1);
    clock.pass(1);
    expect((await slow).status).toBe(200);
    await settings({ waitForIdleTimeout: 0 });
    expect((await get("/source")).status).toBe(200);
  });

  it("fails as often as there is no root, and comes late when it is told to", async () => {
    const { ui, clock, server, get } = await session();
    ui.faults.nullRoots = 1;
    expect(await get("/source")).toMatchObject({ status: 500, error: "unknown error" });
    server.faults.sourceDelayMs = 2_500;
    const late = get("/source");
    await expect.poll(() => clock.waiting).toBe(1);
    clock.pass(2_500);
    expect((await late).status).toBe(200);
  });
});

describe("finding", () => {
  it.each([
    ["id", "search", 1],
    ["id", "dev.labwright.shop:id/products", 1],
    ["id", "no", 0],
    ["accessibility id", "Sort", 1],
    ["class name", "android.widget.Button", 3],
    ["xpath", "//android.widget.Button", 3],
    ["xpath", "//*[@text='Lamp' and @displayed=\"true\"]", 1],
    ["xpath", "//*[contains(@text, '€')]", 4],
    ["xpath", "(//android.widget.Button)[2]", 1],
    ["xpath", "/hierarchy/android.widget.FrameLayout", 1],
    ["xpath", "//*[@text='Rug']/..//*[@text='60 €']", 1],
    ["xpath", "//*[@text='Rug']/following-sibling::android.widget.TextView", 1],
    ["xpath", "//android.widget.LinearLayout[android]", -1],
    ["xpath", "//*[starts-with(@resource-id,'dev.') and not(@text='')] | //*[@text='Lamp']", 6],
    ["-android uiautomator", 'new UiSelector().text("Lamp")', 1],
    ["-android uiautomator", 'new UiSelector().textMatches("(La|Ru).*").clickable(false)', 2],
    [
      "-android uiautomator",
      'new UiSelector().resourceId("dev.labwright.shop:id/products").childSelector(new UiSelector().className("android.widget.TextView").instance(2))',
      1,
    ],
    ["-android uiautomator", 'new UiSelector().descriptionContains("sor")', 1],
    ["-android uiautomator", "new UiSelector().wrong(1)", -1],
    ["-android uiautomator", "UiSelector(", -1],
    ["css selector", ".a", -1],
  ])("finds by %s: %s (%i)", async (strategy, selector, expected) => {
    const { ui, post } = await session();
    ui.start({ packageName: "dev.labwright.shop" });
    const { status, value, error } = await post("/elements", { strategy, selector });
    if (expected < 0) expect({ status, error }).toEqual({ status: 400, error: "invalid selector" });
    else expect(value).toHaveLength(expected);
  });

  it("scrolls a list until what is asked for is there, below and above", async () => {
    const { ui, find, textOf, texts } = await session();
    ui.start({ packageName: settingsApp });
    const into = (text: string) =>
      find(
        "-android uiautomator",
        `new UiScrollable(new UiSelector().scrollable(true)).scrollIntoView(new UiSelector().text("${text}"));`,
      );
    expect(await textOf(await into("Developer options"))).toBe("Developer options");
    expect(texts()).not.toContain("Wi-Fi");
    expect(await textOf(await into("Wi-Fi"))).toBe("Wi-Fi");
    await expect(into("Nothing like this")).rejects.toThrow();
    expect(texts()).toContain("About phone");
  });

  it("looks within an element, and for the active one", async () => {
    const { ui, get, post, find, findAll, tap, texts } = await session();
    ui.start({ packageName: "dev.labwright.shop" });
    const list = await find("id", "products");
    expect(await findAll("class name", "android.widget.TextView", list)).toHaveLength(8);
    expect((await get("/element/active")).error).toBe("no such element");
    tap("Search");
    expect(await post("/keys", { text: "Rug" })).toMatchObject({ status: 200 });
    expect(texts()).toContain("Rug");
  });
});

describe("an element", () => {
  it("tells its attributes by either name, and its place", async () => {
    const { ui, get, find, rectOf } = await session();
    ui.open("labsamples://form");
    const box = await find("id", "news");
    const attribute = async (name: string) => (await get(`/element/${box}/attribute/${name}`)).value;
    expect(await attribute("resource-id")).toBe("dev.labwright.samples:id/news");
    expect(await attribute("className")).toBe("android.widget.CheckBox");
    expect(await attribute("checked")).toBe("false");
    expect(await attribute("contentDescription")).toBeNull();
    expect(await attribute("color")).toMatchObject({ error: "invalid argument" });
    expect(await rectOf(box)).toEqual({ x: 0, y: 162, width: 1080, height: 126 });
    expect((await get(`/element/${box}/name`)).value).toBe("");
  });

  it("is written into and cleared, appended to or replaced; what is no field refuses", async () => {
    const { ui, post, find, textOf } = await session();
    ui.open("labsamples://text");
    const note = await find("id", "note");
    await post(`/element/${note}/value`, { elementId: note, text: "Grüße", replace: false });
    await post(`/element/${note}/value`, { elementId: note, text: " 👋", replace: false });
    expect(await textOf(note)).toBe("Grüße 👋");
    await post(`/element/${note}/value`, { text: "new", replace: true });
    expect(await textOf(note)).toBe("new");
    await post(`/element/${note}/clear`, { elementId: note });
    expect(await textOf(note)).toBe("Note");
    await post(`/element/${note}/click`);
    await post("/keys", { text: "typed", replace: false });
    expect(await textOf(note)).toBe("typed");
    const title = await find("id", "title");
    expect((await post(`/element/${title}/value`, { text: "x" })).error).toBe("invalid element state");
  });

  it("is found again where its locator finds one, is stale where none does, and unknown where it never was", async () => {
    const { ui, get, post, find, findAll, textOf } = await session();
    ui.start({ packageName: "dev.labwright.shop" });
    const lamp = await find("xpath", "//*[@text='Lamp']");
    const [among = ""] = await findAll("xpath", "//*[@text='Lamp']");
    ui.stop("dev.labwright.shop");
    expect((await get(`/element/${lamp}/rect`)).error).toBe("stale element reference");
    ui.start({ packageName: "dev.labwright.shop" });
    expect(await textOf(lamp)).toBe("Lamp");
    expect(await get(`/element/${among}/text`)).toMatchObject({ status: 404 });
    expect((await post("/element/nope/click")).error).toBe("no such element");
    expect(await findAll("id", "nope")).toEqual([]);
  });
});

it("reads and answers an alert, that of a permission and one by its button's label", async () => {
  const { ui, get, post, tap } = await session();
  ui.start({ packageName: samples });
  expect(await get("/alert/text")).toMatchObject({ status: 404, error: "no such alert" });
  tap("Delete notes");
  expect((await get("/alert/text")).value).toBe("Delete all notes?\nThis cannot be undone.");
  expect((await post("/alert/accept", { buttonLabel: "Nope" })).error).toBe("invalid element state");
  await post("/alert/dismiss");
  expect(ui.toasts()).toEqual([]);
  tap("Delete notes");
  await post("/alert/accept", { buttonLabel: "Delete" });
  tap("Take a picture");
  await post("/alert/dismiss");
  tap("Take a picture");
  await post("/alert/accept");
  expect(ui.toasts().map(({ text }) => text)).toEqual([
    "All notes were deleted",
    "The camera is not allowed",
    "The camera is ready",
  ]);
});

it("keeps the clipboard in any script", async () => {
  const { ui, post } = await session();
  await post("/appium/device/set_clipboard", {
    content: Buffer.from("日本 👋").toString("base64"),
    contentType: "plaintext",
  });
  expect(ui.clipboard).toBe("日本 👋");
  expect(Buffer.from(String((await post("/appium/device/get_clipboard")).value), "base64").toString()).toBe(
    "日本 👋",
  );
});

describe("pictures", () => {
  const sizeOf = async (base64: unknown) => {
    const { format, width, height } = await sharp(Buffer.from(String(base64), "base64")).metadata();
    return { format, width, height };
  };

  it("takes one of the screen and of an element, and none of what is secret", async () => {
    const { ui, get, find } = await session();
    ui.start({ packageName: "dev.labwright.shop" });
    expect(await sizeOf((await get("/screenshot")).value)).toEqual({
      format: "png",
      width: 1080,
      height: 2400,
    });
    const search = await find("id", "search");
    expect(await sizeOf((await get(`/element/${search}/screenshot`)).value)).toMatchObject({
      width: 1080,
      height: 147,
    });
    ui.open("labsamples://secret");
    expect(await get("/screenshot")).toMatchObject({
      status: 500,
      error: "unable to capture screen",
    });
  });

  it("streams them, one at each time that the clock allows", async () => {
    const { clock, server, settings } = await session();
    await settings({ mjpegScalingFactor: 10, mjpegServerFramerate: 20 });
    const chunks: Buffer[] = [];
    const socket = connect(server.mjpegPort, "127.0.0.1", () =>
      socket.write("GET / HTTP/1.1\r\nHost: lab\r\n\r\n"),
    );
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    const frames = () =>
      Buffer.concat(chunks).toString("latin1").split("Content-type: image/jpeg").length - 1;
    await expect.poll(frames).toBe(1);
    expect(Buffer.concat(chunks).toString("latin1")).toContain("multipart/x-mixed-replace; boundary=");
    await expect.poll(() => clock.waiting).toBe(1);
    expect(frames()).toBe(1);
    clock.pass(50);
    await expect.poll(frames).toBe(2);
    socket.destroy();
  });
});

it("dies in the middle of a request when it is told to, with everything that it had", async () => {
  const { ui, server, get } = await session();
  server.faults.crashAfter = 1;
  expect((await get("/source")).status).toBe(200);
  await expect(get("/source")).rejects.toThrow("fetch failed");
  expect(await server.ended).toBe("crashed");
  await expect(get("/source")).rejects.toThrow("fetch failed");
  expect(server.requests.at(-1)).toMatchObject({ path: expect.stringContaining("/source"), status: 0 });
  ui.tap(center(ui.active().root));
});
