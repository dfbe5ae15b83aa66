import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { rooms } from "#mcp-server/dashboard/shell/route.ts";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";
import { newAddress, openPage, startBrowser, violationsOf } from "./pages.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-axe-"));

let daemon: DaemonProcess;
let browser: Browser;
/** A report that a person opens. */
let report: string;
beforeAll(async () => {
  const config = `server: { name: lab }\ndevices:\n  - { name: box, model: simulated }\n`;
  [browser, daemon] = await Promise.all([
    startBrowser(),
    startDaemonProcess({ dataDir: join(folder, "data"), config }),
  ]);
  const call = async (tool: string, args: Record<string, unknown>) => {
    const { result, error } = await daemon.call(tool, args);
    expect(error).toBeUndefined();
    return result;
  };
  await call("import_userinterface", { yaml: boxYaml("horizon") });
  await call("create_requirement", { code: "BOX-1", name: "Home is shown" });
  await call("publish_event", { alert: { kind: "freeze", message: "It stands still.", device_id: "box" } });
  for (const [name, text] of [
    ["shows", "Home"],
    ["lacks", "Nowhere"],
  ]) {
    const steps = [{ press_key: { key: "HOME" } }, { text_visible: { text } }];
    await call("save_testcase", { testcase: { name, fresh: false, steps } });
    await call("execute_testcase", { testcase: name, device_id: "box", wait_ms: 60_000 });
  }
  // Its report shows the run before.
  await call("execute_testcase", { testcase: "shows", device_id: "box", wait_ms: 60_000 });
  await call("create_deployment", {
    name: "nightly",
    testcase: "shows",
    device_id: "box",
    cron: "0 3 * * *",
  });
  const { executions } = z
    .object({ executions: z.array(z.object({ execution_id: z.string() })) })
    .parse(await call("get_execution_results", { kind: "testcase" }));
  const response = await fetch(`http://127.0.0.1:${daemon.file().port}/api/v1/tools/get_execution_report`, {
    method: "POST",
    headers: { authorization: `Bearer ${daemon.file().token}`, "content-type": "application/json" },
    body: JSON.stringify({
      execution_id: executions.map(({ execution_id }) => execution_id),
      pictures: "all",
    }),
  });
  const { artifacts } = z
    .object({ artifacts: z.array(z.object({ link: z.string() })).min(1) })
    .parse(await response.json());
  report = await (await fetch(artifacts[0]?.link ?? "")).text();
});
afterAll(async () => {
  await browser.close();
  daemon.signal("SIGTERM");
  await daemon.ended;
  rmSync(folder, { recursive: true, force: true });
});

it.each([
  "light",
  "dark",
] as const)("finds nothing serious in any room or a report, %s", async (colorScheme) => {
  const { page, close } = await openPage(browser, await newAddress(daemon), {
    ...{ width: 1280, height: 800, colorScheme },
  });
  const found: Record<string, string[]> = {};
  const look = async (name: string) => {
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.locator(".loading").first().waitFor({ state: "detached" });
    found[name] = await violationsOf(page, colorScheme);
  };
  for (const room of rooms) {
    await page.goto(new URL(`/#/${room}`, page.url()).href);
    await page.locator(`nav a[href="#/${room}"][aria-current]`).waitFor();
    await look(room);
    const thing = page.locator(`main a[href^="#/${room}/"]`).first();
    if ((await thing.count()) === 0) continue;
    await thing.click();
    await look(`${room}, one`);
    if (room !== "apps") continue;
    await page.locator(".place").last().press("Enter");
    await page.getByRole("button", { name: /^Go to/ }).waitFor();
    await look("a place of an app");
    await page.getByRole("button", { name: "List" }).click();
    await look("a list of places");
  }
  // Its address forbids scripts, axe too.
  await page.goto("about:blank");
  await page.setContent(report);
  expect(await page.locator(".strip").count()).toBe(1);
  await look("a report");
  const clean = Object.fromEntries(Object.keys(found).map((name) => [name, []]));
  // Those of agents are in agents.test.ts.
  const withThings = rooms.filter((room) => room !== "agents").map((room) => `${room}, one`);
  expect(Object.keys(found)).toEqual(expect.arrayContaining([...rooms, ...withThings, "a report"]));
  expect(found).toEqual(clean);
  await close();
});
