import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { type LabIos, startLabIos } from "../lab/ios/index.ts";
import { chain } from "../services/apps/testcases/testcaseBench.ts";

vi.setConfig({ testTimeout: 60_000 });

const verdicts: string[] = [];
let lab: LabIos;
let product: Product;
let client: TestClient;
beforeAll(async () => {
  lab = await startLabIos({
    access: { user: "anna", key: "k3y-of-anna" },
    cloud: { prefix: "sauce:", verdicts },
  });
  const { host } = new URL(lab.url);
  const appium = `{ preset: saucelabs, url: "http://anna:{{secret.KEY}}@${host}/wd/hub", capabilities: { platformName: iOS } }`;
  const devices = `devices:\n  - { name: iphone, model: ios_mobile, controllers: { appium: ${appium} } }`;
  product = await openProduct(devices, { KEY: "k3y-of-anna" });
  client = await product.connect();
  await save("good", [step("text_visible", { text: "Lamp" })]);
  await save("bad", [step("text_visible", { text: "Nobody sells this" })]);
  const mark = {
    type: "action",
    command: "mark_session",
    params: { status: "passed", reason: "known fault" },
  };
  await save("bad and marked", [mark, step("text_visible", { text: "Nobody sells this" })]);
});
afterAll(async () => {
  await product?.dispose();
  await lab?.close();
});

const step = (command: string, params: object) => ({ type: "verification", command, params, timeout_ms: 0 });

async function save(name: string, given: readonly Record<string, unknown>[]): Promise<void> {
  const open = { type: "action", command: "open_app", params: { app: { package: "dev.labwright.shop" } } };
  const { error } = await client.call("save_testcase", {
    testcase: { name, ...chain([open, ...given]) },
    replace: true,
  });
  expect(error).toBeUndefined();
}

async function run(testcase: string) {
  verdicts.splice(0);
  const { structured, error, text } = await client.call("execute_testcase", { testcase, wait_ms: 50_000 });
  expect(error, text).toBeUndefined();
  return { id: z.string().parse(structured.execution_id), status: structured.status };
}

async function report(execution_id: string, format: string): Promise<string> {
  const { structured } = await client.call("get_execution_report", { execution_id, format });
  const { contents } = await client.client.readResource({ uri: z.string().parse(structured.report) });
  const [part] = contents;
  return part && "blob" in part ? Buffer.from(part.blob, "base64").toString("utf8") : (part?.text ?? "");
}

test("every report of a run links to its session in the cloud, and holds no key", async () => {
  const { id, status } = await run("good");
  expect(status).toBe("passed");
  const [, session] = /\/session\/([\w-]+)\//.exec(lab.requests.at(-1)?.path ?? "") ?? [];
  const link = `https://app.saucelabs.com/tests/${session}`;
  const page = await report(id, "html");
  expect(page).toContain(`<a href="${link}" rel="noreferrer">${link}</a>`);
  expect(await report(id, "junit")).toContain(`<property name="session_url" value="${link}"/>`);
  expect(JSON.parse(await report(id, "ctrf"))).toMatchObject({
    results: { tests: [{ extra: { session_url: link } }] },
  });
  expect(page).not.toContain("k3y-of-anna");
});

test("the cloud gets the verdict of each test, and a session in which one failed stays failed", async () => {
  expect((await run("good")).status).toBe("passed");
  expect(verdicts).toEqual(["sauce:job-result=passed"]);
  expect((await run("bad")).status).toBe("failed");
  expect(verdicts).toEqual(["sauce:job-result=failed"]);
  expect((await run("good")).status).toBe("passed");
  expect(verdicts).toEqual([]);
});

test("a run whose session ended links to it, and sends no verdict", async () => {
  const { id: before } = await run("good");
  lab.endSession();
  const { id, status } = await run("good");
  expect(status).toBe("error");
  expect(verdicts).toEqual([]);
  const linkIn = async (one: string) =>
    /https:\/\/app\.saucelabs\.com\/tests\/[\w-]+/.exec(await report(one, "junit"))?.[0];
  expect(await linkIn(id)).toBe(await linkIn(before));
});

test("a verdict that the test itself sent to the cloud stands, in a new session for the first time", async () => {
  expect((await run("bad and marked")).status).toBe("failed");
  expect(verdicts).toEqual(["sauce:job-result=passed"]);
  await run("good");
  expect(verdicts).toEqual([]);
});

test("single actions send no verdict to the cloud", async () => {
  lab.endSession();
  verdicts.splice(0);
  const actions = [{ command: "go_home" }];
  await client.call("execute_device_action", { actions });
  expect((await client.call("execute_device_action", { actions })).error).toBeUndefined();
  expect(verdicts).toEqual([]);
});
