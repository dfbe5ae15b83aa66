import { afterEach, describe, expect, it } from "vitest";
import { shared } from "../../fixtures/shared.ts";
import { startSite } from "../../fixtures/site.ts";
import { killBrowsers } from "./processes.ts";
import { failureOf, openWebDevice, type WebDevice } from "./webDevice.ts";

const NEVER = new AbortController().signal;
const site = shared(startSite);
let device: WebDevice;
afterEach(() => device.close());

async function opened(path: string): Promise<void> {
  device = await openWebDevice();
  await device.run("navigate_to_url", { url: `${site.url}${path}` });
}

/** What each way to look at the page, or to act on it, ends with. */
async function codes(): Promise<(string | undefined)[]> {
  const { run, web } = device;
  const read = (name: string, input: object) => device.check(name, input, { ms: 3_000 });
  const ways: Promise<unknown>[] = [
    read("text_visible", { text: "Start" }),
    read("element_hidden", { selector: "Nowhere" }),
    read("element_count", { selector: "Nowhere", count: 0 }),
    read("url_matches", { url: "about:blank" }),
    run("wait_for", { text_gone: "Start", timeout_ms: 500 }),
    run("click_element", { selector: "Second page", timeout_ms: 500 }),
    run("press_key", { key: "Tab" }),
    run("get_text", { selector: "css=body", timeout_ms: 500 }),
    run("get_count", { selector: "Nowhere" }),
    web.elements?.dump({ interactiveOnly: true }, NEVER) ?? Promise.resolve(),
    web.screen?.capture({}, NEVER) ?? Promise.resolve(),
  ];
  const ended: (string | undefined)[] = [];
  for (const way of ways.map((one) =>
    failureOf(one).then(
      ({ code }) => code,
      () => undefined,
    ),
  ))
    ended.push(await way);
  return ended;
}
const allLost = Array(11).fill("PAGE_LOST");

describe("a page that took the place of the app's is not the app", () => {
  it("after the browser was lost, until a page is opened", async () => {
    await opened("/");
    killBrowsers();
    await expect.poll(() => device.web.isAlive()).toBe(false);
    await device.web.open(NEVER);
    expect(await codes()).toEqual(allLost);
    const failure = await failureOf(device.run("click_element", { selector: "Second page" }));
    expect(failure.message).toMatch(/browser was lost.*Open the app again/);
    await device.run("navigate_to_url", { url: `${site.url}/` });
    expect(await codes()).not.toContain("PAGE_LOST");
  });

  it("after a frozen page was replaced", { timeout: 60_000 }, async () => {
    await opened("/");
    await device.js("setTimeout(() => { for (;;) {} })");
    device.web.doubt?.();
    await device.web.open(NEVER);
    expect(await codes()).toEqual(allLost);
  });

  it("after the browser was closed meanwhile", async () => {
    await opened("/");
    await device.web.close();
    await device.web.open(NEVER);
    expect(await codes()).toEqual(allLost);
  });

  it("after its tab crashed, be it the only one or not, until another one is chosen", async () => {
    await opened("/second");
    await device.run("open_tab", { url: `${site.url}/` });
    await failureOf(device.run("navigate_to_url", { url: "chrome://crash" }));
    expect(await device.noticed("page_error")).toHaveLength(1);
    expect(await codes()).toEqual(allLost);
    await device.run("switch_tab", { tab: 0 });
    expect(await codes()).not.toContain("PAGE_LOST");
    await failureOf(device.run("navigate_to_url", { url: "chrome://crash" }));
    expect(await device.noticed("page_error")).toHaveLength(1);
    expect(await codes()).toEqual(allLost);
  });

  it("while the browser shows an error page of its own", async () => {
    await opened("/");
    await failureOf(device.run("navigate_to_url", { url: "http://127.0.0.1:1/" }));
    const address = async () => (await device.run("get_page_info")).data?.url;
    await expect.poll(address).toMatch(/^chrome-error/);
    expect(await codes()).toEqual(allLost);
    await device.run("navigate_to_url", { url: `${site.url}/` });
    expect(await codes()).not.toContain("PAGE_LOST");
  });
});

it("an empty tab that the client opened itself is what it asked for", async () => {
  await opened("/");
  await device.run("navigate_to_url", { url: "about:blank" });
  expect(await codes()).not.toContain("PAGE_LOST");
  await device.run("load_storage_state", {});
  expect(await codes()).not.toContain("PAGE_LOST");
});
