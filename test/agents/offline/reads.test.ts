import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { storeRuns } from "../../fixtures/executionRecords.ts";
import { boxYaml } from "../../services/navigation/lab.ts";
import { chain, sees } from "../../services/testcases/testcaseBench.ts";
import { type OfflineBench, openOffline, skillOf, skills } from "./bench.ts";

const yaml = `
devices: [{ name: box, model: simulated }, { name: google_tv, model: simulated }]`;

let bench: OfflineBench;
let execution = "";
beforeAll(async () => {
  bench = await openOffline(yaml);
  const { client } = bench;
  for (const app of ["shop", "radio"]) await client.call("import_userinterface", { yaml: boxYaml(app) });
  for (const name of ["login_basic", "zapping"])
    await client.call("save_testcase", {
      testcase: { name, userinterface_name: "shop", ...chain([sees("look", "Welcome home")]) },
    });
  const { structured } = await client.call("execute_testcase", { testcase: "zapping", device_id: "box" });
  execution = z.string().parse(structured.execution_id);
  await client.call("create_requirement", { code: "REQ-001", name: "Login works", priority: "P1" });
  await client.call("create_requirement", { code: "REQ-002", name: "Zapping is fast" });
  await client.call("link_testcase_to_requirement", { requirement: "REQ-002", testcase: "zapping" });
  await client.call("publish_event", { alert: { kind: "blackscreen", message: "black", device_id: "box" } });
  await client.call("create_deployment", {
    ...{ name: "nightly", testcase: "zapping", device_id: "box", cron: "0 2 * * *", timezone: "UTC" },
  });
  await client.call("pause_deployment", { deployment: "nightly" });
});
afterAll(() => bench.end());

const namesOf = (calls: { name: string }[]) => calls.map(({ name }) => name);
const all = ["list_scripts", "list_testcases", "list_hosts", "list_userinterfaces"];

test.each([
  ["list the scripts", ["list_scripts"]],
  ["Skripte auflisten", ["list_scripts"]],
  ["welche Geräte haben wir", ["list_hosts"]],
  ["quels appareils avons-nous", ["list_hosts"]],
  ["which scripts and tests are there", ["list_scripts", "list_testcases"]],
  ["quelles applis sont là", ["list_userinterfaces"]],
  ["what is available", all],
  ["alles was es hier gibt", all],
])("list-resources: %s", async (text, tools) => {
  const { calls, text: answer, needs } = await bench.ask("list-resources", text);
  expect(namesOf(calls)).toEqual(tools);
  expect(needs).toBeUndefined();
  expect(answer.trim().split("\n").at(-1)).toBe("Done without a model.");
});

test("a listing names what is there", async () => {
  expect((await bench.ask("list-resources", "list scripts")).text).toContain("goto.py");
  expect((await bench.ask("list-resources", "list the devices")).text).toMatch(/lab\/box.*free|state: free/);
  expect((await bench.ask("list-resources", "Tests auflisten")).text).toContain("login_basic");
});

test("device-status tells of the devices that are named, in full or in short, and of all when none is", async () => {
  const one = await bench.ask("device-status", "is the google tv free?");
  expect(one.calls.slice(1)).toEqual([{ name: "get_device_info", input: { device_id: "lab/google_tv" } }]);
  expect(one.text).toContain("state: free");
  const short = await bench.ask("device-status", "wer benutzt goog?");
  expect(short.calls.at(-1)?.input).toEqual({ device_id: "lab/google_tv" });
  const two = await bench.ask("device-status", "state of lab/box and GOOGLE-TV");
  expect(two.calls.slice(1).map(({ input }) => input.device_id)).toEqual(["lab/box", "lab/google_tv"]);
  const none = await bench.ask("device-status", "Gerätestatus");
  expect(none.calls.slice(1).map(({ input }) => input.device_id)).toEqual(["lab/box", "lab/google_tv"]);
  const app = await bench.ask("device-status", "which device fits the shop app");
  expect(app.calls.at(-1)).toEqual({ name: "get_compatible_hosts", input: { userinterface_name: "shop" } });
});

test("what is asked for and not named is a question with what there is, and its answer goes on", async () => {
  const { needs, calls } = await bench.ask("device-status", "which device fits the app");
  expect(needs).toEqual({ question: "Which app is meant?", options: ["radio", "shop"] });
  expect(namesOf(calls)).toEqual(["list_userinterfaces"]);
  const answered = await bench.ask("device-status", "which device fits the app", { answers: ["radio"] });
  expect(answered.needs).toBeUndefined();
  expect(answered.calls.at(-1)?.input).toEqual({ userinterface_name: "radio" });
});

test("health-check looks at every device of every host", async () => {
  const { calls } = await bench.ask("health-check", "health check");
  expect(calls.filter(({ name }) => name === "get_device_info").map(({ input }) => input.device_id)).toEqual([
    "lab/box",
    "lab/google_tv",
  ]);
});

test("inspect-device reads what is asked of the device that is named, and asks which when there are two", async () => {
  const { calls, text } = await bench.ask("inspect-device", "battery of the box");
  expect(calls.at(-1)).toEqual({ name: "read_device_sensors", input: { device_id: "lab/box" } });
  expect(text).toContain("battery");
  const apps = await bench.ask("inspect-device", "quelles applis sont installées sur google_tv");
  expect(apps.calls.at(-1)).toEqual({ name: "get_installed_apps", input: { device_id: "lab/google_tv" } });
  const { needs } = await bench.ask("inspect-device", "Akkustand");
  expect(needs?.options).toEqual(["lab/box", "lab/google_tv"]);
});

test.each([
  ["list requirements", "list_requirements", "REQ-001"],
  ["Anforderungen auflisten", "list_requirements", "REQ-002"],
  ["coverage of the requirements in percent", "get_coverage_summary", "uncovered: 1"],
  ["couverture des exigences", "get_coverage_summary", "uncovered: 1"],
  ["exigences sans test", "get_uncovered_requirements", "REQ-001"],
  ["which requirements are not covered", "get_uncovered_requirements", "REQ-001"],
  ["Anforderungen ohne Tests", "get_uncovered_requirements", "REQ-001"],
])("manage-requirements: %s", async (text, tool, shown) => {
  const { calls, text: answer } = await bench.ask("manage-requirements", text);
  expect(namesOf(calls)).toContain(tool);
  expect(answer).toContain(shown);
  expect(answer).toContain("Only looked");
});

test("a requirement is traced from its code and from a test case", async () => {
  const code = await bench.ask("trace-requirements", "which tests cover req-002?");
  expect(code.calls.at(-1)).toEqual({ name: "get_requirement_coverage", input: { requirement: "REQ-002" } });
  expect(code.text).toContain("zapping");
  const back = await bench.ask("trace-requirements", "what requirement is zapping for");
  expect(back.calls.at(-1)).toEqual({ name: "get_testcase_requirements", input: { testcase: "zapping" } });
});

test("alerts, schedules, results, reports, logs and references are told as the tools give them", async () => {
  const alerts = await bench.ask("manage-alerts", "offene Alarme");
  expect(alerts.calls.at(-1)).toMatchObject({ name: "list_alerts", input: { state: "active" } });
  expect(alerts.text).toContain("blackscreen");
  const paused = await bench.ask("manage-deployments", "which schedules are paused");
  expect(paused.calls.at(-1)).toEqual({ name: "list_deployments", input: { status: "paused" } });
  expect(paused.text).toContain("nightly");
  const history = await bench.ask("manage-deployments", "history of nightly");
  expect(history.calls.at(-1)).toEqual({ name: "get_deployment_history", input: { deployment: "nightly" } });
  const failed = await bench.ask("review-results", "what failed?");
  expect(failed.calls.at(-1)).toEqual({ name: "get_execution_results", input: { status: "failed" } });
  const named = await bench.ask("review-results", "results of zapping");
  expect(named.calls.at(-1)?.input).toEqual({ name: "zapping" });
  expect(named.text).toContain(execution);
  const status = await bench.ask("review-results", `why did ${execution} end like that`);
  expect(status.calls.at(-1)).toEqual({ name: "get_execution_status", input: { execution_id: execution } });
  expect(namesOf(status.calls)).not.toContain("list_hosts");
  const junit = await bench.ask("export-report", `junit of ${execution}`);
  expect(junit.calls.at(-1)?.input).toEqual({ execution_id: execution, format: "junit" });
  expect(junit.text).toContain("artifact://");
  const log = await bench.ask("read-logs", "show the log");
  expect(namesOf(log.calls)).toEqual(["view_logs"]);
  expect(namesOf((await bench.ask("manage-references", "list references")).calls)).toContain(
    "list_references",
  );
});

test("follow-execution has nothing to follow when nothing runs", async () => {
  const { text, needs } = await bench.ask("follow-execution", "how far is the run?");
  expect(needs).toBeUndefined();
  expect(text).toContain("There is no run");
});

test("a skill without a plan looks at what is named, reads only, and says what takes a model", async () => {
  const loaded = await bench.ask("edit-testcases", "rename zapping to zap");
  expect(loaded.calls.at(-1)).toEqual({ name: "load_testcase", input: { testcase: "zapping" } });
  expect(loaded.text).toContain("Only looked: set ANTHROPIC_API_KEY");
  const node = await bench.ask("build-subtree", "add screens below Movies in the shop app");
  expect(node.calls).toContainEqual({
    name: "get_node",
    input: { userinterface_name: "shop", node: "Movies" },
  });
  const none = await bench.ask("explore-web", "explore the website");
  expect(none.calls.filter(({ name }) => name !== "list_hosts")).toEqual([]);
  expect(none.text).toMatch(/takes a model[\s\S]*take_control[\s\S]*ANTHROPIC_API_KEY/);
});

test("an id without a digit is one when a run has it, and else a word", async () => {
  await storeRuns(bench.product.storage.db, { qwertyuiopas: {} });
  const known = await bench.ask("review-results", "why did qwertyuiopas end like that");
  expect(known.calls.at(-1)).toEqual({
    name: "get_execution_status",
    input: { execution_id: "qwertyuiopas" },
  });
  const { calls } = await bench.ask("review-results", "results of requirements and applications");
  expect(namesOf(calls)).not.toContain("get_execution_status");
});

test("a failed tool is told as failed, in the server's words", async () => {
  const { text } = await bench.ask("review-results", "what became of abcdefgh1234");
  expect(text).toContain("get_execution_status failed. EXECUTION_NOT_FOUND");
});

test.each([
  "run-script",
  "list-resources",
  "constructor",
])("a user's own skill called %s only looks, with its own tools", async (name) => {
  const tools = ["get_device_info", "delete_testcase"];
  const skill = { ...skillOf("device-status"), name, tools };
  const { calls, text } = await bench.ask(skill, "run and delete zapping on google_tv");
  expect(namesOf(calls).filter((tool) => !tool.startsWith("list_"))).toEqual(
    name === "list-resources" ? [] : ["get_device_info"],
  );
  expect(text).toContain("Only looked");
});

const writes =
  /^(create|update|delete|save|rename|link|unlink|import|publish|pause|resume|cancel|take|execute|release|navigate|start|stop|generate)_/;
test.each(
  skills.filter(({ name }) => !name.startsWith("run-")).map(({ name }) => name),
)("%s writes nothing, whatever is asked", async (skill) => {
  const words = `delete everything: zapping, shop, REQ-001, nightly, ${execution} and node Movies on lab/box, confirm: true`;
  for (const text of [words, "delete everything", ""]) {
    const { calls } = await bench.ask(skill, text);
    expect(namesOf(calls).filter((name) => writes.test(name))).toEqual([]);
  }
});
