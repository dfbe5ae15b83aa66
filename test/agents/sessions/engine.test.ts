import { type AgentEvent, loadAgents } from "@labwright/agent-client";
import { expect, test } from "vitest";
import type { Call } from "../../fixtures/agentLab.ts";
import { hold } from "../../fixtures/messagesApi/gate.ts";
import { calls, held, says, together } from "../../fixtures/messagesApi/reply.ts";
import { byConversation, type Step } from "../../fixtures/messagesApi/script.ts";
import { namesOf, oneDevice, openTalks, scriptRequest, told, toolsOf } from "./talk.ts";

const { talk } = openTalks();

test("a message loads its skill, sends exactly its tools, calls them, and ends; all of it is stored", async () => {
  const {
    say,
    api,
    calls: made,
    conversations,
  } = await talk([
    calls("get_compatible_hosts", { userinterface_name: "shop" }),
    calls("execute_script", { script_name: "goto", device_id: "lab/browser" }),
    says("goto on lab/browser: passed in 7.5 s"),
  ]);
  const { id, ended, events } = await say(scriptRequest);
  expect(told(events)).toEqual([
    "skill_loaded",
    "tool_call",
    "tool_result",
    "tool_call",
    "tool_result",
    "message",
    "session_ended",
  ]);
  expect(events.find(({ type }) => type === "skill_loaded")).toMatchObject({
    skill: "run-script",
    chosen_by: "trigger",
    text: "LOAD SKILL run-script",
    tools: expect.toSatisfy((tools: string[]) => tools.toSorted().join() === toolsOf("run-script").join()),
  });
  for (const at of [0, 1, 2]) expect(namesOf(api, at)).toEqual(toolsOf("run-script"));
  expect(made.map(({ name }) => name)).toEqual(["list_hosts", "get_compatible_hosts", "execute_script"]);
  expect(ended).toMatchObject({ outcome: "done", turns: 3, text: "goto on lab/browser: passed in 7.5 s" });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  const stored = await conversations.events(id, "anna", { after: 0 });
  expect(told(stored)).toEqual(told(events));
  expect(await conversations.get(id, "anna")).toMatchObject({
    skill: "run-script",
    title: scriptRequest,
    turns: 3,
    outcome: "done",
    isRunning: false,
  });
});

test("two messages at once: the second is refused, and nothing of it is stored", async () => {
  const gate = hold();
  const { conversations } = await talk([held(gate, says("done"))]);
  const { id } = await conversations.create({ owner: "anna" });
  const both = [1, 2].map(() => conversations.send(id, "anna", { text: scriptRequest }));
  const results = await Promise.allSettled(both);
  gate.open();
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(results.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { code: "SESSION_BUSY" },
  });
  expect(await conversations.ended(id, "anna")).toMatchObject({ outcome: "done" });
  await expect(conversations.send(id, "anna", { text: "and on" })).resolves.toMatchObject({ seq: 3 });
  await conversations.ended(id, "anna");
});

test("whoever hears the end of a run may speak at once", async () => {
  const { conversations, api } = await talk([says("one"), says("two")]);
  const { id } = await conversations.create({ owner: "anna" });
  const next: Promise<unknown>[] = [];
  await conversations.subscribe(id, "anna", (event) => {
    if (event.type === "session_ended" && next.length === 0)
      next.push(conversations.send(id, "anna", { text: "and once more please" }));
  });
  await conversations.send(id, "anna", { text: scriptRequest });
  await conversations.ended(id, "anna");
  await Promise.all(next);
  expect(await conversations.ended(id, "anna")).toMatchObject({ outcome: "done", text: "two" });
  expect(api.requests).toHaveLength(2);
});

test("an interrupt in the middle of a tool call stops the tool, and the conversation goes on", async () => {
  let stopped = false;
  const reached = hold();
  const call: Call = ({ name }, signal) => {
    if (name === "list_hosts") return oneDevice;
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        stopped = true;
        reject(signal.reason);
      });
      void reached.pass();
    });
  };
  const { conversations, say, api } = await talk(
    [calls("execute_script", { script_name: "goto" }), says("going on")],
    { call },
  );
  const { id } = await conversations.create({ owner: "anna" });
  await conversations.send(id, "anna", { text: scriptRequest });
  await reached.reached;
  expect(await conversations.interrupt(id, "anna")).toBe(true);
  expect(stopped).toBe(true);
  expect(await conversations.ended(id, "anna")).toMatchObject({ outcome: "cancelled" });
  expect(await conversations.interrupt(id, "anna")).toBe(false);
  expect((await say("go on then please", id)).ended).toMatchObject({ outcome: "done", text: "going on" });
  expect(api.refused).toEqual([]);
});

test("what destroys waits for a person: approved it is done, refused and expired it is not", async () => {
  const destroys = calls("delete_testcase", { testcase: "login", confirm: true });
  for (const [decision, made] of [
    [true, 1],
    [false, 0],
    [undefined, 0],
  ] as const) {
    const { conversations, calls: log } = await talk([destroys, says("as you wish")], {
      settings: { approval_timeout_seconds: decision === undefined ? 1 : 60 },
    });
    const { id } = await conversations.create({ owner: "anna" });
    const stop = await conversations.subscribe(id, "anna", (event) => {
      if (event.type !== "approval_required" || decision === undefined) return;
      void conversations.decide(id, "anna", event.approval_id, decision);
    });
    await conversations.send(id, "anna", { text: "delete the test case login", skill: "edit-testcases" });
    expect(await conversations.ended(id, "anna")).toMatchObject({ outcome: "done" });
    stop();
    expect(log.filter(({ name }) => name === "delete_testcase")).toHaveLength(made);
    await expect(conversations.decide(id, "anna", "gone", true)).rejects.toMatchObject({
      code: "APPROVAL_NOT_FOUND",
    });
  }
});

test("a destructive call that only asks what would go, and a read, wait for no one; what the agent names does", async () => {
  const [assistant] = loadAgents().agents.filter(({ name }) => name === "assistant");
  if (!assistant) throw new Error("no assistant");
  const careful = { ...assistant, approvals: ["execute_device_action:reboot"] };
  const { conversations, calls: log } = await talk(
    [
      together(
        calls("execute_device_action", { actions: [{ command: "press_key" }] }),
        calls("execute_device_action", { actions: [{ command: "reboot" }] }),
      ),
      says("done"),
    ],
    { agents: [careful] },
  );
  const { id } = await conversations.create({ owner: "anna" });
  const asked: string[] = [];
  await conversations.subscribe(id, "anna", (event) => {
    if (event.type !== "approval_required") return;
    asked.push(JSON.stringify(event.input));
    void conversations.decide(id, "anna", event.approval_id, false);
  });
  await conversations.send(id, "anna", { text: "press OK and reboot lab/browser", skill: "control-device" });
  await conversations.ended(id, "anna");
  expect(asked).toEqual([expect.stringContaining("reboot")]);
  expect(log.filter(({ name }) => name === "execute_device_action")).toHaveLength(1);
});

test("bad input is refused and stores nothing: empty, ten megabytes, an unknown skill, an agent that no one talks to", async () => {
  const { conversations, api } = await talk([]);
  const { id } = await conversations.create({ owner: "anna" });
  await expect(conversations.send(id, "anna", { text: "  " })).rejects.toMatchObject({
    code: "INVALID_INPUT",
  });
  await expect(conversations.send(id, "anna", { text: "x".repeat(10_000_000) })).rejects.toMatchObject({
    code: "INPUT_TOO_LARGE",
  });
  await expect(conversations.create({ owner: "anna", agent: "monitor" })).rejects.toMatchObject({
    code: "AGENT_NOT_SELECTABLE",
    hint: expect.stringContaining("alert.blackscreen"),
  });
  await expect(conversations.create({ owner: "anna", agent: "nobody" })).rejects.toMatchObject({
    code: "AGENT_NOT_FOUND",
  });
  await expect(conversations.ended(id, "anna")).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await conversations.events(id, "anna", { after: 0 })).toEqual([]);
  await conversations.send(id, "anna", { text: "do it", skill: "fly" });
  expect(await conversations.ended(id, "anna")).toMatchObject({
    outcome: "failed",
    error: { code: "SKILL_NOT_FOUND" },
  });
  expect(api.requests).toEqual([]);
});

test("fifty conversations at once: every event in order, none lost", async () => {
  const steps: Step[] = [calls("get_compatible_hosts", { userinterface_name: "shop" }), says("it went well")];
  const { conversations } = await talk(byConversation(() => steps));
  const runs = Array.from({ length: 50 }, async (_, at) => {
    const { id } = await conversations.create({ owner: "anna" });
    const events: AgentEvent[] = [];
    await conversations.subscribe(id, "anna", (event) => events.push(event));
    await conversations.send(id, "anna", { text: `Run the script number_${at} on lab/browser` });
    await conversations.ended(id, "anna");
    const stored = await conversations.events(id, "anna", { after: 0 });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
    expect(told(stored)).toEqual(told(events));
    return told(events);
  });
  const all = await Promise.all(runs);
  for (const one of all)
    expect(one).toEqual(["skill_loaded", "tool_call", "tool_result", "message", "session_ended"]);
});
