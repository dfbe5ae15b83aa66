import type { ControllerKind, DeviceNotice } from "@labwright/controllers";
import { afterAll, afterEach, beforeAll, describe, expect, it, test, vi } from "vitest";
import { createNotices } from "#mcp-server/services/records/notices.ts";
import { callContext } from "../../fixtures/callContext.ts";
import type { TestClient } from "../../fixtures/client.ts";
import { serve } from "../../fixtures/loopback.ts";
import { openProduct, type Product } from "../../fixtures/product.ts";
import { simulatedDevices } from "../../fixtures/simulated.ts";
import { chain } from "../apps/testcases/testcaseBench.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const html = `<!doctype html><title>Noises</title><h1>Noises</h1>
  <button onclick="alert('Saved')">Alert</button>
  <button onclick="null.fail()">Throw</button>
  <button onclick="fetch('/later').then(() => { throw new Error('late trouble') })">Later</button>
  <button onclick="console.error('logged trouble'); console.warn('a warning')">Log</button>
  <p>Quiet place</p>`;

const noisy =
  "<h1>Noisy</h1><script>let at = 0; setInterval(() => { throw new Error('constant trouble ' + ++at) }, 50)</script>";

let product: Product;
let holder: TestClient;
let other: TestClient;
let page: Awaited<ReturnType<typeof serve>>;
let answerLater = () => {};
beforeAll(async () => {
  page = await serve((request, response) => {
    if (request.url === "/noisy") return void response.setHeader("content-type", "text/html").end(noisy);
    if (request.url !== "/later") return void response.setHeader("content-type", "text/html").end(html);
    answerLater = () => void response.end("now");
  });
  product = await openProduct("devices: [{ name: browser, model: web }]");
  holder = await product.connect({ client: "holder" });
  other = await product.connect({ client: "other" });
});
afterEach(async () => {
  await holder.call("release_control", {});
  await other.call("release_control", {});
});
afterAll(async () => {
  await product.dispose();
  await page.close();
});

const act = (client: TestClient, ...actions: Action[]) => client.call("execute_device_action", { actions });
const open = () => ({ command: "navigate_to_url", params: { url: `${page.url}/` } });
const click = (name: string) => ({
  command: "click_element",
  params: { selector: `role=button[name="${name}"]` },
});
const stepsOf = async (id: unknown) => (await product.services.executions.get(String(id))).steps;

/** What the browser reported of itself since it was opened. */
async function heard(): Promise<readonly DeviceNotice[]> {
  const { devices } = product.services;
  const device = await devices.open(devices.find("browser"), new AbortController().signal);
  return device.controllers.flatMap((controller) => controller.noticesAfter(0));
}

/** Opens the page and lets its promise reject after the call has ended. */
async function troubleBehind(client: TestClient): Promise<void> {
  const { isError, text } = await act(client, open(), click("Later"));
  expect(isError, text).toBe(false);
  const before = (await heard()).at(-1)?.seq ?? 0;
  answerLater();
  await vi.waitFor(async () => expect((await heard()).at(-1)?.seq).toBeGreaterThan(before), {
    timeout: 10_000,
  });
}

const testcase = (name: string, blocks: Record<string, unknown>[]) => ({ name, ...chain(blocks) });
type Action = { command: string; params: Record<string, unknown> };
const action = (id: string, given: Action) => ({ id, type: "action", ...given });
const sees = (text: string) => ({
  id: "sees",
  type: "verification",
  command: "text_visible",
  params: { text },
});

describe("a notice belongs to the step in which it arose", () => {
  it("in a batch: to the command, in the reply and in the record", async () => {
    const { structured } = await act(holder, open(), click("Alert"), click("Throw"));
    expect(String(structured.screen)).toContain('notice of 2 click_element: alert "Saved" was accepted');
    expect(String(structured.screen)).toMatch(/notice of 3 click_element: .*null/);
    const [step] = await stepsOf(structured.execution_id);
    expect(step?.output).toMatchObject([
      { command: "navigate_to_url" },
      { command: "click_element", notices: ['alert "Saved" was accepted'] },
      { command: "click_element", notices: [expect.stringContaining("null")] },
    ]);
    expect(step?.output).not.toMatchObject([{ notices: expect.anything() }, {}, {}]);
  });

  it("in a test case: to the block, and all three reports show it", async () => {
    const saved = testcase("noisy", [
      action("open", open()),
      action("alerts", click("Alert")),
      sees("Quiet place"),
    ]);
    await holder.call("save_testcase", { testcase: saved, replace: true });
    const { structured } = await holder.call("execute_testcase", { testcase: "noisy" });
    expect(structured).toMatchObject({ status: "passed" });
    const { structured: status } = await holder.call("get_execution_status", {
      execution_id: structured.execution_id,
    });
    expect(status).toMatchObject({
      steps: [
        { step: expect.stringContaining("open") },
        { notices: ['alert "Saved" was accepted'] },
        { step: expect.stringContaining("the screen shows") },
      ],
    });
    for (const format of ["html", "junit", "ctrf"]) {
      const made = await holder.call("get_execution_report", {
        execution_id: structured.execution_id,
        format,
      });
      const { bytes } = await product.services.artifacts.get(
        String(made.structured.report).replace("artifact://", ""),
      );
      expect(
        Buffer.from(bytes)
          .toString("utf8")
          .replace(/&quot;|\\"/g, '"'),
      ).toContain('alert "Saved" was accepted');
    }
  });
});

test("an error in the console is kept with its step for reports and gates, and told to no caller", async () => {
  const blocks = [action("open", open()), action("logs", click("Log")), action("throws", click("Throw"))];
  await holder.call("save_testcase", {
    testcase: testcase("logging", [...blocks, sees("Quiet place")]),
    replace: true,
  });
  const { structured } = await holder.call("execute_testcase", { testcase: "logging" });
  expect(structured).toMatchObject({ status: "passed" });
  expect(JSON.stringify(structured)).not.toMatch(/logged trouble|CONSOLE/);
  const [, logs, throws] = await stepsOf(structured.execution_id);
  expect(logs?.notices).toEqual(["CONSOLE_ERROR: logged trouble"]);
  expect(throws?.notices).toEqual(
    expect.arrayContaining([expect.stringMatching(/^CONSOLE_ERROR: Uncaught .*null/)]),
  );
  const acted = await act(holder, open(), click("Log"));
  expect(JSON.stringify(acted.structured)).not.toContain("logged trouble");
  expect(JSON.stringify(await stepsOf(acted.structured.execution_id))).toContain(
    "CONSOLE_ERROR: logged trouble",
  );
  expect(JSON.stringify((await holder.call("dump_ui_elements", {})).structured)).not.toContain("CONSOLE");
});

describe("a notice reaches no other run and no other caller", () => {
  it("what comes behind a call is reported to the next call of its holder, as of before", async () => {
    await troubleBehind(holder);
    const { structured } = await act(holder, { command: "scroll", params: {} });
    expect(String(structured.screen)).toMatch(/notice from before this call: .*late trouble/);
    const [step] = await stepsOf(structured.execution_id);
    expect(JSON.stringify(step)).not.toContain("late trouble");
  });

  it("a snapshot for the holder shows it; one for another caller does not, and takes nothing away", async () => {
    await troubleBehind(holder);
    expect((await other.call("dump_ui_elements", {})).structured.notices).toBeUndefined();
    expect(String((await holder.call("dump_ui_elements", {})).structured.notices)).toContain("late trouble");
    expect((await holder.call("dump_ui_elements", {})).structured.notices).toBeUndefined();
  });

  it("the next holder hears nothing of the one before", async () => {
    await troubleBehind(holder);
    await holder.call("release_control", {});
    const { structured } = await act(other, { command: "scroll", params: {} });
    expect(structured.status).toBe("passed");
    expect(String(structured.screen)).not.toContain("late trouble");
  });

  it("what the holder's own page does next to fresh runs is reported to the holder, not to them", async () => {
    await act(holder, { command: "navigate_to_url", params: { url: `${page.url}/noisy` } });
    await holder.call("save_testcase", {
      testcase: testcase("beside", [action("open", open()), sees("Quiet place"), action("again", open())]),
    });
    for (let run = 0; run < 3; run++) {
      const { structured } = await holder.call("execute_testcase", { testcase: "beside" });
      expect(structured.status).toBe("passed");
      expect(JSON.stringify(structured)).not.toContain("constant trouble");
      expect(JSON.stringify(await stepsOf(structured.execution_id))).not.toContain("constant trouble");
    }
    expect((await heard()).at(-1)?.text).toContain("constant trouble");
    expect((await other.call("dump_ui_elements", {})).structured.notices).toBeUndefined();
    expect(String((await holder.call("dump_ui_elements", {})).structured.notices)).toContain(
      "constant trouble",
    );
  });

  it("a test case hears nothing of what came before it", async () => {
    await troubleBehind(holder);
    await holder.call("save_testcase", {
      testcase: testcase("calm", [action("open", open()), sees("Quiet place")]),
    });
    const { structured } = await holder.call("execute_testcase", { testcase: "calm" });
    expect(structured.status).toBe("passed");
    expect(JSON.stringify(await stepsOf(structured.execution_id))).not.toContain("late trouble");
  });
});

test("a restart is reported as the browser's, or as the device's where it is not a browser", async () => {
  const at = new Date(0).toISOString();
  const { device } = await simulatedDevices({}).acquire({}, callContext(), { drives: false });
  const [controller] = device.controllers.values();
  if (!controller) throw new Error("The simulated device has no controller.");
  const lineOf = (kind: ControllerKind) => {
    const restarted = {
      ...controller,
      kind,
      noticesAfter: () => [{ seq: 1, kind: "restarted" as const, text: "lost", at }],
    };
    return createNotices().take({ ...device, controllers: [restarted] });
  };
  expect(lineOf("web")).toEqual(["BROWSER_RESTARTED: lost"]);
  expect(lineOf("remote")).toEqual(["DEVICE_RESTARTED: lost"]);
});
