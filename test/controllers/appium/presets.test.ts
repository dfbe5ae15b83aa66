import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { presetNames, presets, reportOf, verdictScript } from "#controllers/appium/presets.ts";
import { appiumSettingsSchema, wantedSession } from "#controllers/appium/settings.ts";
import { type LabIos, startLabIos } from "../../lab/ios/index.ts";
import { never } from "../android/openAndroid.ts";
import { openAppium } from "./openAppium.ts";

const wanted = (settings: unknown) => wantedSession(appiumSettingsSchema.parse(settings));

let lab: LabIos;
beforeEach(async () => {
  lab = await startLabIos();
});
afterEach(() => lab.close());

it.each(presetNames)("%s names the pages that were read for it", (name) => {
  const { pages, url } = presets[name];
  expect(pages.length).toBeGreaterThan(0);
  for (const page of pages) expect(new URL(page).protocol).toBe("https:");
  if (url !== undefined) expect(new URL(url).protocol).toBe("https:");
});

describe("a session of a preset", () => {
  it("has its address and options, below what the user wrote", () => {
    const { url, headers, capabilities } = wanted({
      preset: "browserstack",
      app: "bs://abc",
      capabilities: {
        platformName: "android",
        "bstack:options": { userName: "anna", accessKey: "k3y", buildName: "7" },
      },
    });
    expect(url).toBe("https://hub.browserstack.com/wd/hub");
    expect(headers).toEqual({});
    expect(capabilities).toMatchObject({
      "appium:app": "bs://abc",
      "appium:automationName": "UiAutomator2",
      "appium:newCommandTimeout": 300,
      "bstack:options": { userName: "anna", accessKey: "k3y", buildName: "7", idleTimeout: 300 },
    });
  });

  it("keeps the user's own address and times", () => {
    const { url, headers, capabilities } = wanted({
      preset: "saucelabs",
      url: "https://anna:k%40y@ondemand.eu-central-1.saucelabs.com/wd/hub",
      capabilities: { platformName: "iOS", "appium:newCommandTimeout": 30 },
    });
    expect(url).toBe("https://ondemand.eu-central-1.saucelabs.com/wd/hub");
    expect(headers).toEqual({ authorization: `Basic ${Buffer.from("anna:k@y").toString("base64")}` });
    expect(capabilities["appium:newCommandTimeout"]).toBe(30);
  });

  it("needs an address where the cloud has none for all", () => {
    expect(appiumSettingsSchema.safeParse({ preset: "headspin" }).success).toBe(false);
    expect(appiumSettingsSchema.safeParse({ preset: "headspin", url: "https://x.headspin.io" }).success).toBe(
      true,
    );
  });

  it("says where its video is, and reports verdicts by a script", async () => {
    const capabilities = { platformName: "iOS" };
    const phone = await openAppium({ preset: "saucelabs", url: lab.url, capabilities });
    expect(phone.remote.facts?.().note).toMatch(/video: https:\/\/app\.saucelabs\.com\/tests\/[\w-]+$/);
    // The laboratory's server is not a cloud: it refuses such a script.
    await expect(phone.run("mark_session", { status: "passed" })).rejects.toMatchObject({
      message: expect.stringContaining("sauce:job-result=passed"),
    });
    await phone.close();
  });

  it.each([
    [undefined, "controllers.appium.preset"],
    ["devicefarm", "AWS Device Farm name no way"],
    ["headspin", "HeadSpin name none for a test"],
  ])("of the preset %s takes no verdict, and says why", async (preset, why) => {
    const phone = await openAppium({ preset, url: lab.url, capabilities: { platformName: "iOS" } });
    const withheld = phone.remote.withheld?.().find(({ name }) => name === "mark_session");
    expect(withheld?.reason).toContain(why);
    await expect(phone.run("mark_session", { status: "passed" })).rejects.toMatchObject({
      code: "ACTION_REJECTED",
      message: expect.stringContaining(why),
    });
    await phone.remote.cloud?.reportVerdict({ status: "failed", reason: "" }, never);
    await phone.close();
  });
});

it.each(presetNames)("%s either takes verdicts or says why not, and links nowhere but to itself", (name) => {
  const { verdict, noVerdict, report } = presets[name];
  expect([verdict, noVerdict].filter((one) => one !== undefined)).toHaveLength(1);
  const link = reportOf(presets[name], "../a?b=<c>&d");
  expect(link === undefined).toBe(report === undefined);
  if (link === undefined) return;
  expect(new URL(link).origin).toBe(new URL(report ?? "").origin);
  expect(link).not.toMatch(/\.\.\/|[<>&?]/);
});

it("a reason stays within the JSON of the script, whatever it holds", () => {
  const reason = 'a "quote", $& and {{status}}\nin two lines';
  const script = verdictScript(presets.browserstack, "failed", reason) ?? "";
  expect(JSON.parse(script.replace(/^browserstack_executor: /, ""))).toMatchObject({
    arguments: { status: "failed", reason },
  });
});
