import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { calls, says } from "../../fixtures/messagesApi/reply.ts";
import { chain, sees } from "../../services/apps/testcases/testcaseBench.ts";
import { expectWhole, openSkillLab, picturesIn, readBy, type SkillLab } from "./bench.ts";

let lab: SkillLab;
const runs: string[] = [];
beforeAll(async () => {
  lab = await openSkillLab("devices: [{ name: box, model: simulated }, { name: tv, model: simulated }]");
  await lab.client.call("save_testcase", {
    testcase: { name: "zapping", ...chain([sees("look", "All movies")]) },
  });
  for (const key of ["HOME", "DOWN"]) {
    await press(key);
    const args = { testcase: "zapping", device_id: "box" };
    const { structured } = await lab.client.call("execute_testcase", args);
    runs.push(z.string().parse(structured.execution_id));
  }
  await lab.client.call("release_control", { device_id: "box" });
});
afterAll(() => lab.end());

const press = (key: string) =>
  lab.client.call("execute_device_action", {
    device_id: "box",
    actions: [{ command: "press_key", params: { key } }],
  });
const finding = z.strictObject({
  class: z.string(),
  confidence: z.number().min(0).max(1),
  summary: z.string(),
});
const found = (name: string) =>
  JSON.stringify({ class: name, confidence: 0.9, summary: "as the tools showed" });
const failedRun = () => runs[0] ?? "";

test("incident-response: alert.blackscreen is looked at under control, which is given back", async () => {
  const held: { session_id?: string } = {};
  const request = 'alert.blackscreen, critical, on lab/box. The event is data: {"message":"black"}';
  const result = await lab.raise("monitor", "incident-response", request, finding, [
    calls("get_device_info", { device_id: "lab/box" }),
    (_, context) => {
      expect(readBy(context, /state: (\w+)/)).toBe("free");
      return calls("capture_screenshot", { device_id: "lab/box" });
    },
    calls("take_control", { device_id: "lab/box" }),
    (_, context) => {
      held.session_id = readBy(context, /session_id: (\S+)/);
      return calls("capture_screenshot", held);
    },
    () => calls("release_control", held),
    says("lab/box shows its menu; the incident is gone."),
    says(found("device")),
  ]);
  expectWhole("incident-response", result);
  expect(picturesIn(result.requests)).toBe(2);
  expect(result.outcome).toEqual({ class: "device", confidence: 0.9, summary: "as the tools showed" });
  const { structured } = await lab.client.call("get_device_info", { device_id: "box" });
  expect(structured.state).toBe("free");
});

test("health-check: schedule.health_check asks every device that there is", async () => {
  const result = await lab.raise("monitor", "health-check", "schedule.health_check", finding, [
    calls("list_hosts"),
    (_, context) => calls("get_device_info", { device_id: readBy(context, /(lab\/box)/) }),
    calls("get_device_info", { device_id: "lab/tv" }),
    (_, context) => says(`2 of 2 are well; lab/tv is ${readBy(context, /state: (\w+)/)}`),
    says(found("well")),
  ]);
  expectWhole("health-check", result);
  expect(result.ended.text).toBe("2 of 2 are well; lab/tv is free");
});

test("alert-triage: an alert is judged by what its device shows now", async () => {
  const result = await lab.raise("monitor", "alert-triage", "triage alert of lab/tv: no signal", finding, [
    calls("get_device_info", { device_id: "lab/tv" }),
    calls("capture_screenshot", { device_id: "lab/tv" }),
    says("discard: the menu is shown"),
    says("no JSON at first"),
    says(found("discard")),
  ]);
  expectWhole("alert-triage", result);
  expect(picturesIn(result.requests)).toBe(1);
  expect(result.outcome).toMatchObject({ class: "discard" });
});

test("validate-result: testcase.completed compares a run with its test case", async () => {
  const request = `testcase.completed, execution_id ${failedRun()}`;
  const result = await lab.raise("analyzer", "validate-result", request, finding, [
    calls("get_execution_status", { execution_id: failedRun() }),
    (_, context) => {
      expect(readBy(context, /status: (\w+)/)).toBe("failed");
      return calls("load_testcase", { testcase: readBy(context, /name: (\w+)/) });
    },
    (_, context) => says(`It looked for ${readBy(context, /(All movies)/)}: VALID_FAIL`),
    says(found("VALID_FAIL")),
  ]);
  expectWhole("validate-result", result);
  expect(result.outcome).toMatchObject({ class: "VALID_FAIL" });
});

test("detect-false-positive: several runs of one test are compared", async () => {
  const [first = "", second = ""] = runs;
  const result = await lab.raise("analyzer", "detect-false-positive", `flaky? ${first} ${second}`, finding, [
    calls("get_execution_status", { execution_id: first }),
    calls("get_execution_status", { execution_id: second }),
    calls("load_testcase", { testcase: "zapping" }),
    says("Both fail at the same step: real."),
    says(found("real")),
  ]);
  expectWhole("detect-false-positive", result);
});

test("generate-report: deployment.execution_done is written up from runs and coverage", async () => {
  const result = await lab.raise("analyzer", "generate-report", "deployment.execution_done", finding, [
    calls("list_testcases"),
    calls("get_execution_status", { execution_id: failedRun() }),
    calls("get_coverage_summary"),
    (_, context) => says(`1 failed; ${readBy(context, /n: (\d+)/)} requirements`),
    says(found("failed")),
  ]);
  expectWhole("generate-report", result);
  expect(result.ended.text).toBe("1 failed; 0 requirements");
});
