import type { AgentEvent } from "@labwright/agent-client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { requestIn } from "#agent-client/offline/index.ts";
import { boxYaml } from "../../services/apps/navigation/lab.ts";
import { chain, sees } from "../../services/apps/testcases/testcaseBench.ts";
import { openSkillLab, type SkillLab } from "../skills/bench.ts";

let lab: SkillLab;
beforeAll(async () => {
  lab = await openSkillLab(
    "devices: [{ name: box, model: simulated }, { name: living_room, model: simulated }]",
  );
  await lab.client.call("import_userinterface", { yaml: boxYaml("shop") });
  for (const name of ["login_basic", "login_guest"])
    await lab.client.call("save_testcase", {
      testcase: { name, userinterface_name: "shop", ...chain([sees("look", "Welcome home")]) },
    });
  const sleeps = chain([{ id: "wait", type: "sleep", duration_ms: 600_000 }, sees("look", "x")]);
  await lab.client.call("save_testcase", { testcase: { name: "endless", ...sleeps } });
});
afterAll(() => lab.end());

const toolsIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "tool_call" ? [event.tool] : []));

test("a chat without a key runs what is asked, with its questions answered by name and by number", async () => {
  const chat = await lab.chat();
  const which = await chat.say("run the login test case");
  expect(which.ended).toMatchObject({ outcome: "needs_input" });
  expect(which.ended.text).toBe(
    [
      "Not understood: “login”. What is to be run?",
      ...['1. Run the test case "endless"', '2. Run the test case "login_basic"'],
      '3. Run the test case "login_guest"',
    ].join("\n"),
  );
  const device = await chat.say("3");
  expect(device.ended.text).toMatch(
    /^What is to be run\?\n1\. Run the test case "login_guest" on "lab\/box"\n/,
  );
  expect(toolsIn(device.events)).not.toContain("execute_testcase");
  const done = await chat.say("living_room");
  expect(toolsIn(done.events)).toContain("execute_testcase");
  expect(done.ended).toMatchObject({ outcome: "done", turns: 0, cost_usd: 0 });
  expect(done.ended.text).toMatch(/^\*\*login_guest on lab\/living_room\*\*: PASSED/);

  const other = await chat.say("list the scripts");
  expect(toolsIn(other.events)).toEqual(["list_scripts"]);
  expect(other.ended.text).toContain("goto.py");
  await chat.close();
});

test("two wishes run one after the other, and a question between them keeps the rest", async () => {
  const chat = await lab.chat();
  const run = await chat.say('Run the test case "login_guest" on "lab/box", and then list the scripts');
  expect(run.ended).toMatchObject({ outcome: "done", text: expect.stringMatching(/PASSED[\s\S]*goto\.py/) });
  const which = await chat.say('Run the test case "login_guest", and then list the scripts');
  expect(which.ended.text).toContain('on "lab/box", and then list the scripts\n');
  const done = await chat.say("living_room");
  expect(done.ended.text).toMatch(/login_guest on lab\/living_room\*\*: PASSED[\s\S]*goto\.py/);
  await chat.close();
});

test("an interrupted run ends cancelled, and stops on its device", async () => {
  const chat = await lab.chat();
  const said = chat.say("run testcase endless on lab/box");
  const { executions } = lab.product.services;
  await vi.waitFor(() => expect(executions.running()).toBe(1), { timeout: 20_000 });
  expect(await chat.interrupt()).toBe(true);
  expect((await said).ended.outcome).toBe("cancelled");
  await vi.waitFor(() => expect(executions.running()).toBe(0), { timeout: 20_000 });
  await chat.close();
});

test("what deletes is not done without a model", async () => {
  const chat = await lab.chat();
  const { ended, events } = await chat.say("delete test case login_basic");
  expect(toolsIn(events).filter((tool) => !/^(list|get)_/.test(tool))).toEqual([]);
  expect(ended).toMatchObject({ outcome: "needs_input", text: expect.stringContaining("ANTHROPIC_API_KEY") });
  const { structured } = await lab.client.call("load_testcase", { testcase: "login_basic" });
  expect(structured).toHaveProperty("testcase");
  await chat.close();
});

test("a greeting is answered at once, and no skill is asked for", async () => {
  const chat = await lab.chat();
  const { ended, events } = await chat.say("hello there");
  expect(ended).toMatchObject({
    outcome: "done",
    text: expect.stringContaining("Three requests that work here"),
  });
  expect(events.map(({ type }) => type)).not.toContain("skill_loaded");
  await chat.close();
});

test("a name in only one option of the question is that option, anything else is a request of its own", () => {
  const orders = ["login_a", "login_b"].flatMap((name) =>
    ["lab/box", "lab/tv"].map((device) => `Run "${name}" on "${device}"`),
  );
  const text = ["Which?", ...orders.slice(0, 3).map((order, at) => `${at + 1}. ${order}`)].join("\n");
  const request = (said: string, role = "assistant") =>
    requestIn([
      ...[
        { role: "user", text: "run login" },
        { role, text },
      ],
      { role: "user", text: said },
    ]);
  expect(request("LOGIN-B")).toBe(orders[2]);
  expect(request("tv")).toBe(orders[1]);
  expect(request("lab/tv")).toBe(orders[1]);
  expect(request("box")).toBe("box");
  expect(request("list scripts")).toBe("list scripts");
  expect(request("tv", "user")).toBe("tv");
  expect(requestIn([{ role: "user", text: "hello" }])).toBe("hello");
  expect(requestIn([])).toBe("");
});
