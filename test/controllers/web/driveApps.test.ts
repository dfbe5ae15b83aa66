import { beforeEach, describe, expect, it } from "vitest";
import { shared } from "../../fixtures/shared.ts";
import { startSite } from "../../fixtures/site.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const site = shared(startSite);
const device = shared(() => openWebDevice({ denyUrl: (url) => url.includes("//denied.example") }));
beforeEach(() => device.run("load_storage_state"));

const app = () => ({ url: `${site.url}/second`, package: "example.second" });

const isShown = (wanted: Record<string, unknown>) => device.check("app_shown", { app: wanted });

describe("open_app", () => {
  it("opens the app's address and gives its status", async () => {
    const result = await device.run("open_app", { app: app() });
    expect(result.data).toEqual({ url: `${site.url}/second`, status: 200 });
    expect(await device.js("return document.title")).toBe("Second");
  });

  it("says so when the app's server answers with an error", async () => {
    const result = await device.run("open_app", { app: { url: `${site.url}/missing` } });
    expect(result.document).toMatchObject({ status: 404 });
  });

  it.each([
    ["an app without an address", { package: "example.second" }, /A browser finds an app by its url/],
    ["an address that is not whole", { url: "/second" }, /"\/second" is not an address/],
  ])("refuses %s", async (_, wrong, message) => {
    for (const command of ["open_app", "close_app"]) {
      const failure = await failureOf(device.run(command, { app: wrong }));
      expect(failure).toMatchObject({ code: "INVALID_PARAMS", message: expect.stringMatching(message) });
    }
    await expect(isShown(wrong)).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  });

  it("keeps to the URL policy", async () => {
    const failure = await failureOf(device.run("open_app", { app: { url: "https://denied.example/" } }));
    expect(failure.code).toBe("URL_DENIED");
  });
});

describe("app_shown", () => {
  it("holds on every page of the app's origin and on no other", async () => {
    expect(await isShown(app())).toMatchObject({ holds: false, actual: 'the address is "about:blank"' });
    await device.run("open_app", { app: app() });
    expect(await isShown(app())).toMatchObject({ holds: true });
    await device.run("navigate_to_url", { url: `${site.url}/form` });
    expect(await isShown(app())).toMatchObject({ holds: true });
    await device.run("navigate_to_url", { url: `${site.otherUrl}/second` });
    expect(await isShown(app())).toEqual({
      holds: false,
      expected: `the address is one of ${site.url}`,
      actual: `the address is "${site.otherUrl}/second"`,
    });
  });

  it("judges the tab in front", async () => {
    await device.run("open_app", { app: app() });
    await device.run("open_tab");
    expect(await isShown(app())).toMatchObject({ holds: false });
    await device.run("switch_tab", { tab: 0 });
    expect(await isShown(app())).toMatchObject({ holds: true });
  });
});

describe("close_app", () => {
  it("closes every tab of the app and leaves the others", async () => {
    await device.run("open_app", { app: app() });
    await device.run("open_tab", { url: `${site.otherUrl}/form` });
    await device.run("open_tab", { url: `${site.url}/form` });
    const closed = await device.run("close_app", { app: app() });
    expect(closed.message).toBe(`closed the app (2 tabs); now at ${site.otherUrl}/form`);
    const { data } = await device.run("get_page_info");
    expect(data?.tabs).toMatchObject([{ url: `${site.otherUrl}/form`, current: true }]);
    expect(await isShown(app())).toMatchObject({ holds: false });
  });

  it("leaves an empty tab where there was no other, and what the app stored", async () => {
    await device.run("open_app", { app: app() });
    await device.js("localStorage.setItem('kept', 'yes')");
    await device.run("close_app", { app: app() });
    expect(await device.js("return location.href")).toBe("about:blank");
    const failure = await failureOf(device.run("go_back"));
    expect(failure.code).toBe("ACTION_REJECTED");
    await device.run("open_app", { app: app() });
    expect(await device.js("return localStorage.getItem('kept')")).toBe("yes");
  });

  it("does nothing to an app that is not open", async () => {
    await device.run("navigate_to_url", { url: `${site.otherUrl}/form` });
    const result = await device.run("close_app", { app: app() });
    expect(result).toMatchObject({
      message: `the app was not open; now at ${site.otherUrl}/form`,
      isNews: true,
    });
  });
});
