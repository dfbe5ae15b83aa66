import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { DispatchRecord, webFactory } from "@labwright/controllers";
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { startSite } from "../../fixtures/site.ts";
import { controllerContract } from "../contract.ts";
import { bundled, isRunning, killBrowsers, killRenderers, processesBelow } from "./processes.ts";
import { type DeviceOptions, failureOf, makeWebDevice, openWebDevice, type WebDevice } from "./webDevice.ts";

const NEVER = new AbortController().signal;
const site = shared(startSite);
let device: WebDevice | undefined;
afterEach(() => device?.close());

async function opened(options: DeviceOptions = {}): Promise<WebDevice> {
  device = await openWebDevice(options);
  return device;
}

controllerContract("the web controller", async () => {
  const made = await makeWebDevice();
  const endless = { command: "navigate_to_url", params: { url: `${site.url}/never` } };
  return { controller: made.web, factory: webFactory, endless, dispose: () => made.close() };
});

describe("a browser that dies", () => {
  it("ends the running action with DEVICE_LOST, and the next open brings its storage back", async () => {
    const { web, run, js, noticed } = await opened();
    await run("navigate_to_url", { url: `${site.url}/storage` });
    await run("click_element", { selector: "Log in" });
    await run("save_storage_state", { name: "ada" });
    const acting = failureOf(run("navigate_to_url", { url: `${site.url}/never` }));
    await site.waiting();
    killBrowsers();
    expect((await acting).code).toBe("DEVICE_LOST");
    expect(web.isAlive()).toBe(false);
    expect((await failureOf(run("get_page_info"))).code).toBe("DEVICE_LOST");
    await web.open(NEVER);
    expect(await noticed("restarted")).toHaveLength(1);
    await run("navigate_to_url", { url: `${site.url}/storage` });
    expect(await js("return seen.textContent")).toBe("cookie user=ada, item kept");
  });

  it("does not open what is closed on purpose", async () => {
    const { web, run } = await opened();
    await web.close();
    expect((await failureOf(run("navigate_to_url", { url: `${site.url}/` }))).code).toBe("DEVICE_LOST");
  });
});

describe("a click does not count as done", () => {
  const handling = "const asked = new XMLHttpRequest(); asked.open('GET', '/never', false); asked.send()";
  const afterwards = `setTimeout(() => { ${handling} })`;
  it.each([
    ["the browser dies while the page handles it", killBrowsers, handling, "DEVICE_LOST", "unknown"],
    ["the browser dies right after it", killBrowsers, afterwards, "DEVICE_LOST", "yes"],
    ["the tab crashes while the page handles it", killRenderers, handling, "PAGE_LOST", "unknown"],
    ["the tab crashes right after it", killRenderers, afterwards, "PAGE_LOST", "yes"],
  ])("where %s", async (_, kill, script, code, dispatched) => {
    const own = await startSite();
    const { web, run, js } = await opened();
    await run("navigate_to_url", { url: `${own.url}/form` });
    await js(`const go = document.createElement("button"); go.textContent = "Go"; document.body.prepend(go);
      go.onclick = () => { ${script} }`);
    const click = web.commands.find(({ name }) => name === "click_element");
    const inputs = new DispatchRecord();
    const clicking = failureOf(
      inputs.run(async () => click?.run(click.input.parse({ selector: "Go" }), NEVER)),
    );
    await own.waiting();
    kill();
    expect([(await clicking).code, inputs.dispatched]).toEqual([code, dispatched]);
    await own.close();
  });
});

describe("a tab that dies or hangs", () => {
  it("is replaced by an empty one, and reported", async () => {
    const { run, noticed } = await opened();
    await run("navigate_to_url", { url: `${site.url}/form` });
    await failureOf(run("navigate_to_url", { url: "chrome://crash" }));
    expect(await noticed("page_error")).toEqual([expect.stringContaining("crashed")]);
    await expect.poll(async () => (await run("get_page_info")).data?.url).toBe("about:blank");
    await run("navigate_to_url", { url: `${site.url}/form` });
  });

  it("does not hold up a fresh start", async () => {
    const { run, js } = await opened();
    await run("navigate_to_url", { url: `${site.url}/busy` });
    await failureOf(run("click_element", { selector: "Spin", timeout_ms: 500 }));
    await run("load_storage_state", {});
    await run("navigate_to_url", { url: `${site.url}/form` });
    expect(await js("return document.title")).toBe("Form");
  });
});

describe("a process that is killed", () => {
  it("leaves no browser behind, even one whose page never rests", async () => {
    const script = await bundled("holdBrowser");
    const holder = spawn(process.execPath, [script, `${site.url}/busy`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    const pids = processesBelow(holder.pid ?? 0);
    expect(pids.length).toBeGreaterThan(2);
    holder.kill("SIGKILL");
    await expect.poll(() => pids.filter(isRunning), { timeout: 5_000 }).toEqual([]);
    await rm(script);
  });
});

describe("a call that is cancelled or takes too long", () => {
  it("stops the page that it was opening", async () => {
    const { run } = await opened();
    const cancel = new AbortController();
    const opening = failureOf(run("navigate_to_url", { url: `${site.url}/never` }, cancel.signal));
    await site.waiting();
    cancel.abort(new Error("cancelled"));
    expect((await opening).code).toBe("COMMAND_TIMEOUT");
    expect((await run("get_page_info")).data?.loading).toBe(false);
    await run("navigate_to_url", { url: `${site.url}/form` });
  });

  it("stops waiting for an element", async () => {
    const { run } = await opened();
    await run("navigate_to_url", { url: `${site.url}/form` });
    const cancel = new AbortController();
    const clicking = failureOf(run("click_element", { selector: "Off", timeout_ms: 60_000 }, cancel.signal));
    const waiting = failureOf(run("wait_for", { text: "never", timeout_ms: 60_000 }, cancel.signal));
    cancel.abort(new Error("cancelled"));
    expect([(await clicking).code, (await waiting).code]).toEqual(["COMMAND_TIMEOUT", "COMMAND_TIMEOUT"]);
  });

  it("a page that never loads fails with its deadline, and the device goes on", async () => {
    const { run, js } = await opened();
    const failure = await failureOf(run("navigate_to_url", { url: `${site.url}/never`, timeout_ms: 300 }));
    expect(failure.code).toBe("NAVIGATION_FAILED");
    expect(failure.message).toContain("300 ms");
    await run("navigate_to_url", { url: `${site.url}/form` });
    expect(await js("return document.title")).toBe("Form");
  });

  it("an address that no one serves or that is none says so", async () => {
    const { run } = await opened();
    const closed = await failureOf(run("navigate_to_url", { url: `http://127.0.0.1:${await freePort()}/` }));
    expect([closed.code, closed.message]).toEqual([
      "APP_UNREACHABLE",
      expect.stringContaining("nothing listens"),
    ]);
    expect((await failureOf(run("navigate_to_url", { url: "http://[" }))).code).toBe("INVALID_PARAMS");
  });
});
