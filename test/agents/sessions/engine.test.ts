import { matchSkill } from "@labwright/skills";
import { afterEach, expect, test } from "vitest";
import { loadAgents } from "../../../agent-client/src/agents/load.ts";
import { systemClock } from "../../../agent-client/src/clock.ts";
import type { AgentEvent } from "../../../agent-client/src/events.ts";
import { allSkills, answers, type Call, fakeLab, hostsOf, openTalk } from "../../fixtures/agentLab.ts";
import { modelsAt } from "../../fixtures/agentLoop.ts";
import { memoryStore } from "../../fixtures/memoryStore/memoryStore.ts";
import { hold } from "../../fixtures/messagesApi/gate.ts";
import { calls, held, says, together } from "../../fixtures/messagesApi/reply.ts";
import { byConversation, type Respond, type Step, script } from "../../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function model(given: Respond | readonly Step[]): Promise<MessagesApi> {
  const api = await startMessagesApi({ respond: typeof given === "function" ? given : script(given) });
  open.push(api);
  return api;
}

async function talk(
  given: Respond | readonly Step[],
  more: { call?: Call; settings?: Record<string, unknown>; name?: string } & Partial<
    Parameters<typeof openTalk>[2]
  > = {},
) {
  const api = await model(given);
  const lab = fakeLab(more.call ?? lonely);
  const talking = openTalk(lab.server, modelsAt(api.url, more.name ? { model: more.name } : {}), more);
  open.push(talking.conversations);
  return { ...talking, api, ...lab };
}

const oneDevice = hostsOf({ id: "lab/browser", model: "web" });
const twoDevices = hostsOf({ id: "lab/browser", model: "web" }, { id: "lab/tv", model: "stb" });
const lonely: Call = ({ name }) => (name === "list_hosts" ? oneDevice : answers(`${name} done`));

const told = (events: readonly AgentEvent[]) =>
  events
    .filter((event) => event.type !== "progress" && !(event.type === "message" && event.partial))
    .map(({ type }) => type);
const namesOf = (api: MessagesApi, at: number) => api.requests[at]?.body.tools?.map(({ name }) => name);
const toolsOf = (skill: string) => [...(allSkills.find(({ name }) => name === skill)?.tools ?? [])].sort();

const scriptRequest = "Run the script goto on lab/browser";

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

test("a later message changes the skill and keeps the history; a follow-up keeps the skill", async () => {
  const steps = [says("it passed"), says("again it passed"), says("two devices")];
  const { say, api } = await talk(steps, { name: "claude-haiku-5-5" });
  const { id } = await say(scriptRequest);
  const again = await say("and once more please", id);
  expect(again.events.find(({ type }) => type === "skill_loaded")).toMatchObject({
    skill: "run-script",
    chosen_by: "kept",
  });
  const other = await say("health check of all devices in the lab", id);
  expect(other.events.find(({ type }) => type === "skill_loaded")).toMatchObject({ skill: "health-check" });
  expect(namesOf(api, 2)).toEqual(toolsOf("health-check"));
  expect(api.requests[2]?.body.messages).toHaveLength(5);
});

test("an undecided message is asked of a model, once and cheaply, and its cost counts", async () => {
  const { say, api } = await talk([says("list-resources"), says("there")]);
  const { events, ended } = await say("could you maybe check something");
  expect(events[0]).toMatchObject({ type: "skill_loaded", skill: "list-resources", chosen_by: "model" });
  expect(api.requests[0]?.body.tools).toBeUndefined();
  expect(api.requests[0]?.body).toMatchObject({
    thinking: { type: "between_tools" },
    output_config: { effort: "low" },
  });
  const sent = api.requests.reduce((sum, { usage }) => sum + usage.input_tokens, 0);
  expect(ended.usage.input_tokens).toBe(sent);
});

test("what no model can tell either is asked of the user, whose answer is a name or its number", async () => {
  const { say, api } = await talk([says("ask"), says("listed")]);
  const first = await say("could you maybe check something");
  expect(first.ended.outcome).toBe("needs_input");
  const question = first.events.find((event) => event.type === "handoff");
  const options = question?.type === "handoff" ? question.options : [];
  expect(options.length).toBeGreaterThan(1);
  const second = await say("1", first.id);
  expect(second.events[0]).toMatchObject({ type: "skill_loaded", skill: options[0], chosen_by: "user" });
  expect(JSON.stringify(api.requests[1]?.body.messages)).toContain("could you maybe check something");
});

test("a skill that needs a device asks which, when there are several and none was named", async () => {
  const call: Call = ({ name }) => (name === "list_hosts" ? twoDevices : answers("done"));
  const { say, api } = await talk([says("passed")], { call });
  const first = await say("Run the script goto");
  expect(first.events.find(({ type }) => type === "handoff")).toMatchObject({
    options: ["lab/browser", "lab/tv"],
  });
  expect(first.ended.outcome).toBe("needs_input");
  expect(api.requests).toHaveLength(0);
  const second = await say("2", first.id);
  expect(second.events[0]).toMatchObject({ skill: "run-script", chosen_by: "kept" });
  expect(JSON.stringify(api.requests[0]?.body.messages)).toContain("lab/tv");
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

test("a conversation of another process, or of another user, cannot be talked in", async () => {
  const gate = hold();
  const api = await model([held(gate, says("done")), says("mine now")]);
  const { server } = fakeLab(lonely);
  const one = openTalk(server, modelsAt(api.url));
  const two = openTalk(server, modelsAt(api.url));
  open.push(one.conversations, two.conversations);
  const { id } = await one.conversations.create({ owner: "anna" });
  await one.conversations.send(id, "anna", { text: scriptRequest });
  await expect(two.conversations.send(id, "anna", { text: "me too" })).rejects.toMatchObject({
    code: "SESSION_BUSY",
  });
  for (const [owner, code] of [["ben", "SESSION_NOT_FOUND"]] as const) {
    await expect(two.conversations.get(id, owner)).rejects.toMatchObject({ code });
    await expect(two.conversations.send(id, owner, { text: "x" })).rejects.toMatchObject({ code });
    await expect(two.conversations.events(id, owner, { after: 0 })).rejects.toMatchObject({ code });
    await expect(two.conversations.remove(id, owner)).rejects.toMatchObject({ code });
    await expect(two.conversations.subscribe(id, owner, () => {})).rejects.toMatchObject({ code });
  }
  gate.open();
  await one.conversations.ended(id, "anna");
  const next = await two.say("and once more", id);
  expect(next.ended.text).toBe("mine now");
  expect(next.events[0]?.seq).toBeGreaterThan(1);
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

test("a run that died with its process is answered for, and gone on with", async () => {
  const store = memoryStore(systemClock);
  const { server } = fakeLab(lonely, { store });
  const api = await model([says("I looked again")]);
  const { conversations, say } = openTalk(server, modelsAt(api.url));
  open.push(conversations);
  const { id } = await conversations.create({ owner: "anna" });
  const use = { type: "tool_use" as const, id: "toolu_1", name: "execute_script", input: {} };
  await store.hold(id, "dead", 1);
  await store.append(id, "dead", {
    messages: [
      { seq: 1, message: { role: "user", content: scriptRequest } },
      { seq: 2, message: { role: "assistant", content: [use] } },
    ],
    events: [{ type: "message", text: "half", session_id: id, seq: 4, at: "2026-01-01T00:00:00.000Z" }],
    patch: { skill: "run-script" },
  });
  await expect.poll(() => store.hold(id, "probe", 1)).toBeDefined();
  await store.letGo(id, "probe");
  const { ended, events } = await say("go on please", id);
  expect(ended.outcome).toBe("done");
  expect(events[0]?.seq).toBeGreaterThan(4);
  expect(JSON.stringify(api.requests[0]?.body.messages)).toContain("the agent died while this ran");
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

test("a destructive call that only asks what would go, and a read, wait for nobody; what the agent names does", async () => {
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

test("bad input is refused and stores nothing: empty, ten megabytes, an unknown skill, an agent that nobody talks to", async () => {
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

test("tools of another skill are added within the conversation: the cached beginning stays as it was", async () => {
  const steps = [
    says("it passed"),
    calls("get_device_info", { device_id: "lab/browser" }),
    says("all is well"),
    calls("get_device_info", { device_id: "lab/browser" }),
    says("still well"),
  ];
  const { say, api, calls: made } = await talk(steps, { name: "claude-sonnet-5-5" });
  const { id } = await say(scriptRequest);
  const other = await say("health check of all devices in the lab", id);
  expect(other.ended).toMatchObject({ outcome: "done", text: "all is well" });
  const third = await say("check the health of all devices again", id);
  expect(third.ended).toMatchObject({ outcome: "done", text: "still well" });
  expect(made.filter(({ name }) => name === "get_device_info")).toHaveLength(2);
  for (const at of [0, 1, 2, 3]) {
    expect(namesOf(api, at)).toEqual(toolsOf("run-script"));
    expect(api.requests[at]?.body.system).toEqual(api.requests[0]?.body.system);
    const before = api.requests[at]?.body.messages ?? [];
    expect(api.requests[at + 1]?.body.messages.slice(0, before.length)).toEqual(before);
  }
  expect(api.refused).toEqual([]);
});

test("a message reads what is new of a conversation; one that rested is read anew", async () => {
  const store = memoryStore(systemClock);
  const read: [after: number | undefined, count: number][] = [];
  const messages = store.messages.bind(store);
  store.messages = async (id, after) => {
    const found = await messages(id, after);
    read.push([after, found.length]);
    return found;
  };
  const api = await model(Array.from({ length: 9 }, () => says("done")));
  const { server } = fakeLab(lonely, { store });
  const talking = openTalk(server, modelsAt(api.url), { idleMs: 500 });
  open.push(talking.conversations);
  const { id } = await talking.say(scriptRequest);
  await talking.say("and once more please", id);
  expect(read).toEqual([[0, 0]]);
  await store.hold(id, "another process", 1_000);
  const elsewhere = [
    { seq: 5, message: { role: "user" as const, content: "asked elsewhere" } },
    { seq: 6, message: { role: "assistant" as const, content: "said elsewhere" } },
  ];
  await store.append(id, "another process", { messages: elsewhere });
  await store.letGo(id, "another process");
  await talking.say("and once more please", id);
  expect(read).toEqual([
    [0, 0],
    [4, 2],
  ]);
  expect(JSON.stringify(api.requests.at(-1)?.body.messages)).toContain("said elsewhere");
  await expect
    .poll(
      async () => {
        await talking.say("and once more please", id);
        return read.at(-1);
      },
      { timeout: 20_000, interval: 1_000 },
    )
    .toEqual([0, expect.any(Number)]);
  expect(api.refused).toEqual([]);
});

test("three prompts that the devices at hand can run open a conversation, and each of all is understood without a model", async () => {
  const { conversations } = await talk([]);
  const suggestions = await conversations.suggestions();
  expect(suggestions).toHaveLength(3);
  const assistant = loadAgents().agents.find((agent) => agent.default);
  for (const { text } of assistant?.suggestions ?? [])
    expect(matchSkill(text, allSkills), text).toMatchObject({ kind: "match" });
});

test("a conversation whose store failed goes on with what was stored, in order", async () => {
  const store = memoryStore(systemClock);
  const append = store.append.bind(store);
  const lost = "and this is lost please";
  let failures = 0;
  store.append = async (id, holder, entries) => {
    if (failures === 0 && JSON.stringify(entries.messages ?? []).includes(lost)) {
      failures += 1;
      throw new Error("the disk is full");
    }
    return append(id, holder, entries);
  };
  const api = await model(Array.from({ length: 4 }, () => says("done")));
  const { server } = fakeLab(lonely, { store });
  const talking = openTalk(server, modelsAt(api.url));
  open.push(talking.conversations);
  const { id } = await talking.say(scriptRequest);
  await talking.say(lost, id).catch(() => {});
  expect(failures).toBe(1);
  const { ended } = await talking.say("and once more please", id);
  expect(ended.outcome).toBe("done");
  const stored = await store.messages(id);
  expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, at) => at + 1));
  expect(JSON.stringify(stored)).not.toContain(lost);
  expect(api.refused).toEqual([]);
});
