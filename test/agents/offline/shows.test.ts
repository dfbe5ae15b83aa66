import { afterAll, beforeAll, expect, test } from "vitest";
import { boxYaml } from "../../services/apps/navigation/lab.ts";
import { chain, sees } from "../../services/apps/testcases/testcaseBench.ts";
import { type OfflineBench, openOffline } from "./bench.ts";

let bench: OfflineBench;
beforeAll(async () => {
  bench = await openOffline(
    "devices: [{ name: box, model: simulated }, { name: google_tv, model: simulated }]",
  );
  const { client } = bench;
  for (const app of ["shop", "radio"]) await client.call("import_userinterface", { yaml: boxYaml(app) });
  for (const name of ["login_basic", "zapping"])
    await client.call("save_testcase", {
      testcase: { name, userinterface_name: "shop", ...chain([sees("look", "Welcome home")]) },
    });
  await client.call("create_requirement", { code: "REQ-001", name: "Login works", priority: "P1" });
  await client.call("publish_event", { alert: { kind: "blackscreen", message: "black", device_id: "box" } });
  await client.call("create_deployment", {
    ...{ name: "nightly", testcase: "zapping", device_id: "box", cron: "0 2 * * *", timezone: "UTC" },
  });
});
afterAll(() => bench.end());
const namesOf = (calls: { name: string }[]) => calls.map(({ name }) => name);

test.each([
  ["list the scripts", ["list_scripts"], "goto.py"],
  ["which devices are free?", ["list_hosts"], "lab/box"],
  ["which scripts and tests are there", ["list_scripts", "list_testcases"], "zapping"],
  ["list the test cases", ["list_testcases"], "login_basic"],
  ["what apps do we have", ["list_userinterfaces"], "shop"],
  ["what are our requirements?", ["list_requirements"], "REQ-001"],
  ["are there open alerts", ["list_alerts"], "blackscreen"],
  ["deployments", ["list_deployments"], "nightly"],
  ["coverage", ["get_coverage_summary"], "uncovered: 1"],
])("%s", async (text, tools, shown) => {
  const { calls, text: answer, outcome } = await bench.ask(text);
  expect(answer).toContain(shown);
  expect(namesOf(calls)).toEqual(tools);
  expect(outcome).toBe("done");
});

test.each([
  ["list references", "references: none"],
  ["show the logs", "shown: 0"],
  ["services", "daemon"],
  ["", "Three requests that work here"],
  ["?!", "Three requests that work here"],
  ["日本語のテスト", "This takes a model"],
])("an answer has text, also for nothing and for an empty list: %s", async (text, shown) => {
  expect((await bench.ask(text)).text).toContain(shown);
});

test.each([
  ["is the google tv free?", { name: "get_device_info", input: { device_id: "lab/google_tv" } }],
  ["state of GOOGLE-TV", { name: "get_device_info", input: { device_id: "lab/google_tv" } }],
  ["show the deployment nightly", { name: "get_deployment_history", input: { deployment: "nightly" } }],
  ["show REQ-001", { name: "get_requirement_coverage", input: { requirement: "REQ-001" } }],
  ["show the test case zapping", { name: "load_testcase", input: { testcase: "zapping" } }],
])("by its name: %s", async (text, call) => {
  const { calls, outcome } = await bench.ask(text);
  expect(calls.at(-1)).toEqual(call);
  expect(outcome).toBe("done");
});

test.each([
  ["list the scripts of checkout", "goto.py", "“checkout”"],
  ["tests of the app shop", "zapping", "“shop”"],
  ["alerts of google_tv", "blackscreen", "“google_tv”"],
  ["alerts since Monday", "blackscreen", "“since”, “Monday”"],
  ["which phones and devices are free?", "lab/box", "“phones”"],
  ["show the deployment nightly since Monday", "nightly", "“since”, “Monday”"],
])("what does not narrow the listing is named beside it: %s", async (text, shown, words) => {
  const { text: said, outcome } = await bench.ask(text);
  expect(said).toContain(shown);
  expect(said).toContain(`Not understood: ${words}.`);
  expect(outcome).toBe("needs_input");
});

test.each([
  "hello",
  "help",
  "Good morning!",
  "hi there, good evening",
  "what can you do",
  "👋",
  "…",
])("a greeting gets three requests, each of which is done: %s", async (text) => {
  const { text: offered, outcome } = await bench.ask(text);
  expect(outcome).toBe("done");
  const requests = [...offered.matchAll(/^- (.*)$/gm)].map(([, request = ""]) => request);
  expect(requests).toHaveLength(3);
  for (const request of requests) {
    const said = await bench.ask(request);
    expect({ request, ...said }).toMatchObject({ outcome: "done" });
    expect(said.text).not.toContain("Not understood");
  }
});

test.each([
  "explore the website",
  "do it again",
  "where in the app are we right now?",
  "create requirement: the user can log in",
  "delete the test case login_basic",
  "Skripte auflisten",
  "rename zapping to zap",
  "take a screenshot of box",
  "write a test for shop",
])("what takes a model is said in two lines, with how to go on: %s", async (text) => {
  const { text: answer, outcome, calls } = await bench.ask(text);
  expect(answer.split("\n")).toHaveLength(2);
  expect(answer).toMatch(/takes a model, which would use one of the skills review-results\./);
  expect(answer).toMatch(/\nSet ANTHROPIC_API_KEY and ask again, or ask for example “.*”/);
  expect(outcome).toBe("needs_input");
  for (const { name, input } of calls)
    if (!/^(?:list|get)_/.test(name))
      expect({ name, input }).toMatchObject({ name: "execute_plan", input: { run: false } });
});

test("steps are read by the server's grammar and done, once the app and the device are clear", async () => {
  const asked = await bench.ask("go to Movies and check All movies is shown");
  expect(asked).toMatchObject({
    outcome: "needs_input",
    text: expect.stringContaining("Where is it to be done?"),
  });
  const [order = ""] = asked.needs?.options ?? [];
  expect(order).toBe('go to Movies and check All movies is shown in the app "radio" on "lab/box"');
  const done = await bench.ask(order);
  expect(done.calls.at(-2)).toMatchObject({
    name: "execute_plan",
    input: { task: "go to Movies and check All movies is shown", device_id: "lab/box" },
  });
  expect(done).toMatchObject({ outcome: "done", text: expect.stringContaining("on lab/box**: PASSED") });
  expect((await bench.ask("press OK on box")).needs?.options).toHaveLength(2);
});

test("with more apps than are asked, the app is asked for, though only one of those reads the steps", async () => {
  await bench.client.call("delete_userinterface", { userinterface_name: "radio", confirm: true });
  const words = "go to Movies and check All movies is shown on box";
  expect((await bench.ask(words)).outcome).toBe("done");
  const added = ["z1", "z2", "z3", "z4", "z5", "z6"];
  for (const name of added)
    await bench.client.call("import_userinterface", {
      yaml: `{ format_version: 1, name: ${name}, models: [web], tree: { nodes: [{ label: Entry, type: entry }], edges: [] } }`,
    });
  const asked = await bench.ask(words);
  for (const name of added)
    await bench.client.call("delete_userinterface", { userinterface_name: name, confirm: true });
  expect(asked).toMatchObject({
    outcome: "needs_input",
    text: expect.stringContaining("Where is it to be done?"),
  });
  expect(asked.needs?.options).toEqual([
    'go to Movies and check All movies is shown in the app "shop" on "lab/box"',
  ]);
});
