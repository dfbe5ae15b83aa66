import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { afterEach, describe, expect, it } from "vitest";
import { serve } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { startSite } from "../../fixtures/site.ts";
import { browserPids, bundled, isRunning, processesBelow } from "./processes.ts";
import { failureOf, makeWebDevice, openWebDevice, type WebDevice } from "./webDevice.ts";

const NEVER = new AbortController().signal;
const site = shared(startSite);
let device: WebDevice | undefined;
afterEach(async () => {
  await device?.close();
  device = undefined;
});

describe("browsers that are opened one soon after the other", () => {
  it("all have our selector engine", { timeout: 120_000 }, async () => {
    const script = await bundled("openTwo");
    // The engine used to be registered while the second browser was launched: that takes some 100 to 300 ms.
    const outcomes: unknown[] = [];
    for (const between of [60, 120, 180, 240]) {
      const child = spawn(process.execPath, [script, String(between), `${site.url}/dialogs`], {
        stdio: "inherit",
      });
      outcomes.push((await once(child, "exit"))[0]);
    }
    await rm(script);
    expect(outcomes).toEqual([0, 0, 0, 0]);
  });
});

describe("a browser that several wait for", () => {
  it("opens for one when another gives up", async () => {
    device = await makeWebDevice();
    const impatient = new AbortController();
    const first = device.web.open(impatient.signal);
    const second = device.web.open(NEVER);
    impatient.abort(new Error("the first caller left"));
    await expect(first).rejects.toThrow("the first caller left");
    await second;
    expect(device.web.isAlive()).toBe(true);
    expect(browserPids()).toHaveLength(1);
  });

  it("is not left behind when all give up", async () => {
    device = await makeWebDevice();
    const impatient = new AbortController();
    const opening = device.web.open(impatient.signal);
    await expect.poll(() => browserPids().length, { timeout: 20_000 }).toBeGreaterThan(0);
    impatient.abort(new Error("left"));
    await expect(opening).rejects.toThrow("left");
    await expect.poll(() => browserPids(), { timeout: 20_000 }).toEqual([]);
    await device.web.open(NEVER);
    expect(device.web.isAlive()).toBe(true);
  });

  it("opens again after it was killed while it opened", async () => {
    device = await makeWebDevice();
    const opening = failureOf(device.web.open(NEVER));
    await expect.poll(() => browserPids().length, { interval: 1, timeout: 20_000 }).toBeGreaterThan(0);
    for (const pid of browserPids()) process.kill(pid, "SIGKILL");
    expect((await opening).code).toBe("BROWSER_UNUSABLE");
    expect(device.web.isAlive()).toBe(false);
    await device.web.open(NEVER);
    await device.run("navigate_to_url", { url: `${site.url}/form` });
  });
});

describe("a device that is stuck", () => {
  it("gets a new page for one that never rests, in the same browser, with its storage", {
    timeout: 60_000,
  }, async () => {
    device = await openWebDevice();
    const before = browserPids();
    await device.run("navigate_to_url", { url: `${site.url}/storage` });
    await device.run("click_element", { selector: "Log in" });
    await device.js("setTimeout(() => { for (;;) {} })");
    device.web.doubt?.();
    await device.web.open(NEVER);
    expect(await device.noticed("restarted")).toEqual([expect.stringContaining("did not answer")]);
    await device.run("navigate_to_url", { url: `${site.url}/storage` });
    expect(await device.js("return seen.textContent")).toBe("cookie user=ada, item kept");
    expect(browserPids()).toEqual(before);
  });

  it("keeps its page after a failure that means nothing", async () => {
    device = await openWebDevice();
    await device.run("navigate_to_url", { url: `${site.url}/form` });
    await failureOf(device.run("click_element", { selector: "Nowhere", timeout_ms: 100 }));
    expect(device.web.isDoubted?.()).toBe(true);
    await device.web.open(NEVER);
    expect(await device.js("return document.title")).toBe("Form");
  });

  it("is doubted when the page that an action opens does not come", async () => {
    device = await openWebDevice();
    const stuck = await serve(({ url }, response) => {
      if (url === "/") response.setHeader("content-type", "text/html").end(`<a href="/next">Next</a>`);
      // The head's script never ends, so the page's DOM is never ready.
      else response.setHeader("content-type", "text/html").write("<script src=/script.js></script>");
    });
    await device.run("navigate_to_url", { url: `${stuck.url}/` });
    await device.run("click_element", { selector: "Next" });
    const failure = await failureOf(device.run("click_element", { selector: "Anything", timeout_ms: 300 }));
    expect(failure).toMatchObject({
      code: "COMMAND_TIMEOUT",
      message: expect.stringContaining("was not run"),
    });
    expect(device.web.isDoubted?.()).toBe(true);
    await stuck.close();
  });

  it("starts anew when the browser itself does not answer any more", { timeout: 60_000 }, async () => {
    device = await openWebDevice();
    const stopped = browserPids().flatMap((pid) => [pid, ...processesBelow(pid)]);
    for (const pid of browserPids()) process.kill(pid, "SIGSTOP");
    device.web.doubt?.();
    await device.web.open(NEVER);
    await device.run("navigate_to_url", { url: `${site.url}/form` });
    expect(await device.js("return document.title")).toBe("Form");
    await expect.poll(() => stopped.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  });

  it("closes within its deadline when the browser does not", { timeout: 60_000 }, async () => {
    device = await openWebDevice();
    const all = browserPids().flatMap((pid) => [pid, ...processesBelow(pid)]);
    for (const pid of browserPids()) process.kill(pid, "SIGSTOP");
    await device.close();
    await expect.poll(() => all.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  });
});

describe("a browser that was closed", () => {
  it("starts again with its storage", async () => {
    device = await openWebDevice();
    await device.run("navigate_to_url", { url: `${site.url}/storage` });
    await device.run("click_element", { selector: "Log in" });
    await device.web.close();
    expect(browserPids()).toEqual([]);
    await device.web.open(NEVER);
    expect(await device.noticed("restarted")).toEqual([expect.stringContaining("closed")]);
    await device.run("navigate_to_url", { url: `${site.url}/storage` });
    expect(await device.js("return seen.textContent")).toBe("cookie user=ada, item kept");
  });
});
