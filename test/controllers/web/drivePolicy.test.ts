import { beforeEach, describe, expect, it } from "vitest";
import { shared } from "../../fixtures/shared.ts";
import { startSite } from "../../fixtures/site.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const METADATA = "http://169.254.169.254/latest/meta-data";
const isDenied = (url: URL) => url.pathname === "/second" || url.hostname.startsWith("169.254.");
const site = shared(startSite);
const device = shared(() =>
  openWebDevice({
    denyUrl: (url) => URL.canParse(url) && isDenied(new URL(url)),
    denyAddress: (address) => address === "::1" || address.startsWith("169.254."),
  }),
);
beforeEach(async () => {
  await device.run("load_storage_state", {});
  device.dropNotices();
});

const open = (path: string) => device.run("navigate_to_url", { url: `${site.url}${path}` });
const askedFor = (path: string) => site.requests.filter((line) => line === `GET ${path}`).length;

describe("the URL policy", () => {
  it.each([METADATA, "file:///etc/passwd"])("refuses to open %s", async (url) => {
    expect((await failureOf(device.run("navigate_to_url", { url }))).code).toBe("URL_DENIED");
    expect((await failureOf(device.run("open_tab", { url }))).code).toBe("URL_DENIED");
    expect((await device.run("get_page_info")).data?.tabs).toHaveLength(1);
  });

  it.each([METADATA, "/second"])("refuses a redirect to %s before it is followed", async (to) => {
    const before = askedFor("/second");
    expect((await failureOf(open(`/redirect?to=${to}`))).code).toBe("URL_DENIED");
    expect(askedFor("/second")).toBe(before);
    expect(await device.noticed("url_denied")).toEqual([expect.stringContaining(to)]);
  });

  it.each(["/second", "/redirect?to=/second", METADATA])("refuses a frame of %s", async (src) => {
    const before = askedFor("/second");
    await open(`/frame?src=${encodeURIComponent(src)}`);
    expect(await device.noticed("url_denied")).toHaveLength(1);
    expect(askedFor("/second")).toBe(before);
  });

  it("refuses a new tab before anything is sent", async () => {
    await open("/");
    const before = askedFor("/second");
    const clicking = device.run("click_element", { selector: "In a new tab" });
    await clicking.catch((error: unknown) => expect(error).toHaveProperty("code", "URL_DENIED"));
    expect(await device.noticed("url_denied")).toHaveLength(1);
    expect(askedFor("/second")).toBe(before);
  });

  it("refuses what a script fetches", async () => {
    const before = askedFor("/second");
    await open("/fetcher?url=/second");
    await device.run("wait_for", { text: "refused" });
    expect(askedFor("/second")).toBe(before);
  });

  it("refuses a click that leads there, and the page stays", async () => {
    await open("/");
    const failure = await failureOf(device.run("click_element", { selector: "Second page" }));
    expect(failure.code).toBe("URL_DENIED");
    expect(failure.message).toContain("The action was done");
    expect(await device.js("return document.title")).toBe("Start");
    await device.run("click_element", { selector: "Part" });
  });

  it("refuses a host name by the address that it resolves to", async () => {
    const refusing = await openWebDevice({ denyAddress: () => true });
    try {
      const failure = await failureOf(refusing.run("navigate_to_url", { url: `${site.otherUrl}/form` }));
      expect(failure.code).toBe("URL_DENIED");
      expect(await refusing.noticed("url_denied")).toEqual([expect.stringContaining("address")]);
    } finally {
      await refusing.close();
    }
  });

  it("lets everything else pass", async () => {
    await open("/fetcher?url=/data.json");
    await device.run("wait_for", { text: "allowed" });
    await open("/redirect?to=/form");
    expect(await device.js("return document.title")).toBe("Form");
  });
});
