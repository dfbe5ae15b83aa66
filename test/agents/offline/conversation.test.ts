import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { AgentEvent } from "../../../agent-client/src/events.ts";
import { requestIn } from "../../../agent-client/src/offline/index.ts";
import { boxYaml } from "../../services/navigation/lab.ts";
import { chain, sees } from "../../services/testcases/testcaseBench.ts";
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
  expect(which.ended.text).toBe("Which test case is meant?\n1. login_basic\n2. login_guest");
  const device = await chat.say("2");
  expect(device.ended.text).toBe("Which device is meant?\n1. lab/box\n2. lab/living_room");
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

test("an answer belongs to the request before its question, anything else is a request of its own", () => {
  const user = (text: string) => ({ role: "user", text });
  const asks = (...options: string[]) => ({
    role: "assistant",
    text: ["Which?", ...options.map((option, at) => `${at + 1}. ${option}`)].join("\n"),
  });
  const begun = [user("run login"), asks("login_a", "login_b")];
  expect(requestIn([...begun, user("LOGIN-B")])).toEqual({ text: "run login", answers: ["LOGIN-B"] });
  const further = [...begun, user("login_b"), asks("lab/box", "lab/tv")];
  expect(requestIn([...further, user("tv")])).toEqual({ text: "run login", answers: ["login_b", "tv"] });
  expect(requestIn([...further, user("list scripts")])).toEqual({ text: "list scripts", answers: [] });
  expect(requestIn([user("hello")])).toEqual({ text: "hello", answers: [] });
  expect(requestIn([user("a"), { role: "assistant", text: "done" }, user("done")])).toEqual({
    ...{ text: "done", answers: [] },
  });
  expect(requestIn([])).toEqual({ text: "", answers: [] });
});
