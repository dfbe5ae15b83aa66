import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { openWireSession, type WireSession } from "../../../../controllers/src/appium/client.ts";
import { testAddons } from "../../../fixtures/addons.ts";
import { type LabIos, startLabIos } from "../../../lab/ios/index.ts";

const never = new AbortController().signal;
const bundleId = "dev.labwright.shop";
const elementKey = "element-6066-11e4-a52e-4f735466cecf";

let lab: LabIos;
let session: WireSession;
beforeAll(async () => {
  lab = await startLabIos();
});
afterAll(() => lab.close());
beforeEach(async () => {
  lab.ui.clearData(bundleId);
  const capabilities = {
    platformName: "iOS",
    "appium:automationName": "XCUITest",
    "appium:bundleId": bundleId,
  };
  const options = { url: lab.url, headers: {}, capabilities, longestMs: 10_000, signal: never };
  session = await openWireSession(testAddons, options);
});
afterEach(() => session.call("deleteSession", [], never));

const call = (command: string, ...args: unknown[]) => session.call(command, args, never);
const mobile = (name: string, given: object = {}) => call("executeScript", `mobile: ${name}`, [given]);
const idOf = (element: unknown) => z.object({ [elementKey]: z.string() }).parse(element)[elementKey];
const find = async (using: string, value: string) => idOf(await call("findElement", using, value));
const labels = async (using: string, value: string) => {
  const found = z.array(z.unknown()).parse(await call("findElements", using, value));
  return Promise.all(found.map((one) => call("getElementAttribute", idOf(one), "label")));
};

describe("WebdriverIO finds", () => {
  it.each([
    ["accessibility id", "search", ["XCUIElementTypeTextField"]],
    ["id", "Account", ["XCUIElementTypeButton"]],
    ["class name", "XCUIElementTypeSwitch", ["XCUIElementTypeSwitch"]],
    ["-ios predicate string", 'label == "Cart"', ["XCUIElementTypeButton"]],
    [
      "-ios predicate string",
      'type == "XCUIElementTypeStaticText" AND value BEGINSWITH[c] "LAM"',
      ["XCUIElementTypeStaticText"],
    ],
    [
      "-ios predicate string",
      "name IN {'Shop', \"Cart\"} AND NOT (visible == 0) AND rect.x >= 0 AND type ENDSWITH 'Button'",
      ["XCUIElementTypeButton", "XCUIElementTypeButton"],
    ],
    [
      "-ios predicate string",
      "value LIKE 'L*p' OR label MATCHES 'Ch.*r'",
      ["XCUIElementTypeStaticText", "XCUIElementTypeStaticText"],
    ],
    ["-ios class chain", "**/XCUIElementTypeTable/XCUIElementTypeCell[2]", ["XCUIElementTypeCell"]],
    ["-ios class chain", "**/XCUIElementTypeCell[$label == 'Lamp'$]", ["XCUIElementTypeCell"]],
    [
      "-ios class chain",
      "**/XCUIElementTypeCell[-1]/XCUIElementTypeStaticText[`value CONTAINS '€'`]",
      ["XCUIElementTypeStaticText"],
    ],
    ["-ios class chain", "XCUIElementTypeWindow/*[1]", ["XCUIElementTypeOther"]],
    ["xpath", "//XCUIElementTypeStaticText[@label='Rug']/..", ["XCUIElementTypeCell"]],
  ])("by %s %s", async (using, value, types) => {
    const found = z.array(z.unknown()).parse(await call("findElements", using, value));
    expect(await Promise.all(found.map((one) => call("getElementAttribute", idOf(one), "type")))).toEqual(
      types,
    );
  });

  it("elements below another one", async () => {
    const cell = await find("-ios class chain", "**/XCUIElementTypeCell[`visible == 1`][1]");
    const texts = z
      .array(z.unknown())
      .parse(await call("findElementsFromElement", cell, "class name", "XCUIElementTypeStaticText"));
    expect(await Promise.all(texts.map((one) => call("getElementText", idOf(one))))).toEqual([
      "Chair",
      "80 €",
    ]);
  });

  it.each([
    ["-ios predicate string", "label === 'x'", "invalid selector"],
    ["-ios class chain", "Cell[1]", "invalid selector"],
    ["xpath", "//a[", "invalid selector"],
    ["css selector", "#a", "invalid selector"],
    ["accessibility id", "Nobody", "no such element"],
  ])("nothing by %s %s: %s", async (using, value, error) => {
    const answer = await call("findElement", using, value).then(
      (found) => z.object({ error: z.string() }).parse(found).error,
      (failure: unknown) => z.object({ answer: z.object({ error: z.string() }) }).parse(failure).answer.error,
    );
    expect(answer).toBe(error);
  });
});

describe("WebdriverIO drives", () => {
  it("fields: clicks, types, clears and reads them", async () => {
    const field = await find("accessibility id", "search");
    await call("elementClick", field);
    expect(idOf(await call("getActiveElement"))).not.toBe("");
    await call("elementSendKeys", field, "Lamp\b");
    expect(await call("getElementAttribute", field, "value")).toBe("Lam");
    expect(await call("isElementEnabled", field)).toBe(true);
    expect(await call("isElementDisplayed", field)).toBe(true);
    await call("elementClear", field);
    expect(await call("getElementAttribute", field, "value")).toBe("Search");
    expect(await call("getElementRect", field)).toMatchObject({ x: 0, width: 390 });
    expect(await call("getElementTagName", field)).toBe("XCUIElementTypeTextField");
  });

  it("an element that is gone is stale", async () => {
    const lamp = await find("accessibility id", "Lamp");
    await call("elementClick", lamp);
    await expect(call("elementClick", lamp)).rejects.toMatchObject({
      answer: { status: 404, error: "stale element reference" },
    });
  });

  it("the whole screen: source, picture, orientation, contexts, settings", async () => {
    expect(await call("getPageSource")).toMatch(
      /<AppiumAUT>\s*<XCUIElementTypeApplication type="XCUIElementTypeApplication"/,
    );
    expect(
      Buffer.from(z.string().parse(await call("takeScreenshot")), "base64").toString("latin1", 1, 4),
    ).toBe("PNG");
    expect(await call("getContexts")).toEqual(["NATIVE_APP"]);
    await call("setOrientation", "LANDSCAPE");
    expect(await call("getWindowRect")).toMatchObject({ width: 844, height: 390 });
    await call("setOrientation", "PORTRAIT");
    await call("updateSettings", { snapshotMaxDepth: 60 });
    expect(await call("getSettings")).toEqual({ snapshotMaxDepth: 60 });
  });

  it("apps by mobile: commands", async () => {
    expect(await mobile("activeAppInfo")).toMatchObject({ bundleId });
    expect(await mobile("queryAppState", { bundleId })).toBe(4);
    await mobile("pressButton", { name: "home" });
    expect(await mobile("queryAppState", { bundleId })).toBe(3);
    expect(await mobile("terminateApp", { bundleId })).toBe(true);
    expect(await mobile("queryAppState", { bundleId })).toBe(1);
    expect(await mobile("queryAppState", { bundleId: "com.nope" })).toBe(0);
    await mobile("deepLink", { url: "labshop://product/Lamp" });
    expect(await labels("-ios predicate string", "label == '40 €'")).toEqual(["40 €"]);
    await expect(mobile("launchApp", { bundleId: "com.nope" })).rejects.toMatchObject({
      answer: { message: expect.stringContaining("'com.nope' unknown") },
    });
    await expect(mobile("noSuch")).rejects.toMatchObject({ answer: { error: "unknown command" } });
    await expect(mobile("pressButton", { name: "bixby" })).rejects.toMatchObject({ answer: { status: 400 } });
  });

  it("gestures by mobile: commands", async () => {
    await mobile("launchApp", { bundleId: "com.apple.Preferences" });
    const first = await labels("class name", "XCUIElementTypeSwitch");
    await mobile("scroll", { direction: "down" });
    expect(await labels("class name", "XCUIElementTypeSwitch")).not.toEqual(first);
    await mobile("swipe", { direction: "down" });
    expect(await labels("class name", "XCUIElementTypeSwitch")).toEqual(first);
    await mobile("tap", { x: 20, y: 80 });
    const wifi = await find("accessibility id", "wi_fi");
    expect(await call("getElementAttribute", wifi, "value")).toBe("0");
    await mobile("doubleTap", { x: 20, y: 80 });
    expect(await call("getElementAttribute", wifi, "value")).toBe("0");
  });

  it("alerts", async () => {
    await expect(call("getAlertText")).rejects.toMatchObject({ answer: { error: "no such alert" } });
    lab.ui.crash(bundleId, "for the test");
    expect(await call("getAlertText")).toContain("Lamp and Chair has stopped");
    expect(await mobile("alert", { action: "getButtons" })).toEqual(["Open app again", "Close app"]);
    await call("dismissAlert");
    await expect(call("acceptAlert")).rejects.toMatchObject({ answer: { error: "no such alert" } });
  });

  it("the clipboard and the place", async () => {
    await mobile("setPasteboard", { content: "grüße" });
    expect(await mobile("getPasteboard")).toBe("grüße");
    await mobile("setSimulatedLocation", { latitude: 48.2, longitude: 16.4 });
    expect(await mobile("getSimulatedLocation")).toEqual({ latitude: 48.2, longitude: 16.4 });
  });
});
