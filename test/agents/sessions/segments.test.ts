import { systemClock, type ToolResult } from "@labwright/agent-client";
import { afterEach, describe, expect, test } from "vitest";
import type { Message } from "#agent-client/loop/history.ts";
import priceFile from "#agent-client/model/models.json" with { type: "json" };
import { inputOf } from "#agent-client/model/usage.ts";
import {
  allSkills,
  answers,
  type Call,
  fakeLab,
  hostsOf,
  openTalk,
  type Talk,
} from "../../fixtures/agentLab.ts";
import { modelsAt } from "../../fixtures/agentLoop.ts";
import { memoryStore } from "../../fixtures/memoryStore/memoryStore.ts";
import { editedPrompt } from "../../fixtures/messagesApi/contextEdits.ts";
import { gatewayModel, getModel } from "../../fixtures/messagesApi/models.ts";
import { promptOf, tokensOf } from "../../fixtures/messagesApi/prompt.ts";
import { calls, says, thinks, together } from "../../fixtures/messagesApi/reply.ts";
import { assertRequest, blocksOf, type MessagesRequest } from "../../fixtures/messagesApi/request.ts";
import type { Respond } from "../../fixtures/messagesApi/script.ts";
import {
  type MessagesApi,
  type MessagesApiOptions,
  startMessagesApi,
} from "../../fixtures/messagesApi/server.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** Each message calls a tool of its skill once, and is answered. */
const onePerMessage: Respond = (_, { results, tools }) => {
  if (results.length > 0) return together(thinks("It went well."), says("done"));
  const tool = ["get_device_info", "list_hosts", "list_actions", "list_scripts"].find((name) =>
    tools.includes(name),
  );
  return together(thinks("I look first."), calls(tool ?? "get_compatible_hosts", {}));
};

async function lab(
  model: string,
  given: Partial<MessagesApiOptions> & { skills?: typeof allSkills; call?: Call } = {},
): Promise<{
  api: MessagesApi;
  again(skills?: typeof allSkills): Talk;
  store: ReturnType<typeof memoryStore>;
}> {
  const hosts = hostsOf({ id: "lab/browser", model: "web" });
  const usual: Call = ({ name }) => (name === "list_hosts" ? hosts : answers(`${name} done`));
  const { skills: shipped = allSkills, call = usual, ...options } = given;
  const api = await startMessagesApi({ respond: onePerMessage, ...options });
  open.push(api);
  const store = memoryStore(systemClock);
  return {
    api,
    store,
    again(skills = shipped) {
      const { server } = fakeLab(call, { store, skills });
      const talk = openTalk(server, modelsAt(api.url, { model }));
      open.push(talk.conversations);
      return talk;
    },
  };
}

const priced = priceFile.models.map(({ model }) => model);
/** One model of each kind: the others differ in price alone. */
const kinds = new Map(
  priceFile.models.map(({ model, price, ...facts }) => [
    JSON.stringify([
      { ...facts, cache_floor_tokens: 0 },
      { ...getModel(model), id: "", floor: 0 },
    ]),
    model,
  ]),
);

/** What is no PNG counts as the largest picture. */
const jpeg = Buffer.from(`ffd8ffe0${"00".repeat(20)}`, "hex").toString("base64");
const betas = ["context-management-2025-06-27"];
const never = (): never => {
  throw new Error("nothing was asked");
};

/** Tokens of each request of a conversation that nothing ever leaves; what stood in for its messages is none of them. */
function wholeInputs(body: MessagesRequest, messages: readonly Message[]): number[] {
  const own = messages.filter(
    (message) => !JSON.stringify(message).includes("This conversation was shortened."),
  );
  const tokens = (list: readonly Message[]) => {
    const request: unknown = { ...body, messages: list };
    assertRequest(request);
    return tokensOf(promptOf(request));
  };
  const prefix = tokens([{ role: "user", content: "go" }]) - 1;
  let sum = prefix;
  return own.flatMap((message) => {
    const before = sum;
    sum += tokens([message]) - prefix;
    return message.role === "assistant" ? [before] : [];
  });
}

const bySkill = {
  "run-script": "Run the script goto on lab/browser",
  "health-check": "health check of all devices in the lab",
  "list-resources": "list the scripts that there are",
  "control-device": "take control of device lab/browser",
};

/** What two requests of one conversation must have to each other. */
function compare(before: MessagesRequest, after: MessagesRequest): "goes on" | "new segment" {
  const { system, tools, messages } = before;
  if (JSON.stringify([after.system, after.tools]) === JSON.stringify([system, tools])) {
    expect(after.messages.slice(0, messages.length)).toEqual(messages);
    return "goes on";
  }
  const [last] = after.messages.slice(-1);
  const thoughts = after.messages.flatMap(blocksOf).filter(({ type }) => type === "thinking");
  expect(thoughts).toEqual([]);
  expect(last?.role).toBe("user");
  // What was said is there, without the thinking.
  const words = (list: MessagesRequest["messages"]) =>
    list
      .filter(({ role }) => role !== "system")
      .flatMap(blocksOf)
      .filter(({ type }) => type !== "thinking")
      .map((block) => JSON.stringify(block));
  expect(words(after.messages).slice(0, words(messages).length)).toEqual(words(messages));
  return "new segment";
}

describe.each([...kinds.values()])("a chat of sixty turns over four skills and back, with %s", (model) => {
  test("is refused nothing, and each request is the one before it and more, or begins a segment", async () => {
    const { api, again } = await lab(model);
    const { say, conversations } = again();
    const skills = [...Object.keys(bySkill), ...Object.keys(bySkill).reverse()];
    const asked = skills.flatMap((skill) => Object.entries(bySkill).filter(([name]) => name === skill));
    const { id } = await conversations.create({ owner: "anna" });
    for (let message = 0; message < 30; message++) {
      // Each skill for two messages: the second keeps it.
      const [skill, text] = asked[Math.floor(message / 2) % asked.length] ?? ["", ""];
      const { ended, events } = await say(`${text} ${message}`, id);
      expect(ended, JSON.stringify(ended.error)).toMatchObject({ outcome: "done", turns: 2, text: "done" });
      expect(events.find(({ type }) => type === "skill_loaded")).toMatchObject({ skill });
    }
    expect(api.refused).toEqual([]);
    expect(api.requests).toHaveLength(60);
    const bodies = api.requests.map(({ body }) => body);
    const steps = bodies.slice(1).flatMap((body, at) => compare(bodies[at] ?? body, body));
    expect(steps.filter((step) => step === "new segment")).toHaveLength(getModel(model).toolChanges ? 0 : 11);
  });
});

describe("a conversation", () => {
  const haiku = "claude-haiku-5-5";
  const opus = "claude-opus-5-5";

  test.each([haiku, opus])("goes on in another process as it was, with %s", async (model) => {
    const { api, again } = await lab(model);
    const { id } = await again().say(bySkill["run-script"]);
    await again().say(bySkill["health-check"], id);
    const { ended } = await again().say(`${bySkill["health-check"]} again`, id);
    expect(ended.outcome).toBe("done");
    expect(api.refused).toEqual([]);
    const bodies = api.requests.map(({ body }) => body);
    const steps = bodies.slice(1).map((body, at) => compare(bodies[at] ?? body, body));
    expect(steps.filter((step) => step === "new segment")).toHaveLength(model === haiku ? 1 : 0);
  });

  test("whose skill was changed meanwhile begins a segment", async () => {
    const { api, again } = await lab(opus);
    const { id } = await again().say(bySkill["run-script"]);
    const changed = allSkills.map((skill) =>
      skill.name === "run-script" ? { ...skill, system_prompt: `${skill.system_prompt} Be brief.` } : skill,
    );
    const { ended } = await again(changed).say(bySkill["run-script"], id);
    expect([ended.outcome, api.refused]).toEqual(["done", []]);
    expect(JSON.stringify(api.requests.at(-1)?.body.system)).toContain("Be brief.");
  });

  test("whose thinking is taken for another one's goes on without it, and says so", async () => {
    const { api, again, store } = await lab(opus);
    const { id } = await again().say(bySkill["run-script"]);
    const kept = store.messages.bind(store);
    store.messages = async (session, range) =>
      (await kept(session, range)).map((one) =>
        one.seq === 1 ? { ...one, message: { role: "user", content: "Something else was said" } } : one,
      );
    const { ended, events } = await again().say(bySkill["run-script"], id);
    expect(ended.outcome).toBe("done");
    expect(api.refused.map(({ message }) => message)).toEqual([
      expect.stringContaining("bound to a different conversation"),
    ]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "progress", kind: "model", text: expect.stringContaining("thinking") }),
    );
    expect(api.requests.at(-1)?.body.thinking).toMatchObject({
      block_binding: { prefix_mismatch_behavior: "drop_block" },
    });
  });

  test.each([
    "claude-haiku-4-5",
    opus,
    gatewayModel.id,
  ])("of two hundred turns with forty dumps and twenty pictures stays short, with %s", async (model) => {
    const dump = answers("A screen with many words. ".repeat(500));
    const shot: ToolResult = {
      parts: [{ type: "image", mimeType: "image/jpeg", base64: jpeg }],
      isError: false,
    };
    // Ten turns a message: two dumps, a picture, and an answer.
    const tools = ["take_control", "list_actions", "dump_ui_elements", "capture_screenshot"];
    const order = [0, 1, 2, 3, 1, 1, 1, 2, 1];
    let asked = 0;
    const respond: Respond = () => {
      const turn = asked++;
      const tool = tools[order[turn % 10] ?? -1];
      return tool === undefined ? says(`so much for ${turn}`) : calls(tool, { device_id: "lab/browser" });
    };
    const call: Call = ({ name }) => {
      if (name === "list_hosts") return hostsOf({ id: "lab/browser", model: "web" });
      if (name === "dump_ui_elements") return dump;
      if (name === "capture_screenshot") return shot;
      return answers(name === "take_control" ? "session_id: lease-4711" : `${name} done`);
    };
    const { api, again, store } = await lab(model, { respond, call });
    const { say, conversations } = again();
    const { id } = await conversations.create({ owner: "anna" });
    for (let message = 0; api.requests.length < 200; message++)
      expect((await say(`${bySkill["control-device"]} number ${message}`, id)).ended).toMatchObject({
        outcome: "done",
      });
    expect(api.refused).toEqual([]);
    const inputs = api.requests.map(({ usage }) => inputOf(usage));
    expect(Math.max(...inputs)).toBeLessThan(200_000);
    const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
    const { body } = api.requests.at(-1) ?? never();
    const messages = (await store.messages(id, { after: 0, limit: 1_000 })).map(({ message }) => message);
    expect(sum(inputs) / sum(wholeInputs(body, messages))).toBeLessThan(0.25);
    // What was done stays, and what the user said.
    const last = editedPrompt(body, { betas, clears: true })
      .prompt.map(({ text }) => text)
      .join();
    for (const words of ["lease-4711", "number 0", "number 7"]) expect(last).toContain(words);
  }, 60_000);

  test.each([
    "claude-haiku-4-5",
    opus,
    gatewayModel.id,
  ])("whose model's window is full in the middle of a run goes on with what was said and done, with %s", async (model) => {
    const steps = ["take_control", ...Array(6).fill("dump_ui_elements"), "execute_device_action"];
    const respond: Respond = () => {
      const tool = steps.shift();
      return tool === undefined
        ? says("all of it")
        : together(thinks("On."), calls(tool, { device_id: "lab/browser" }));
    };
    const call: Call = ({ name }) => {
      if (name === "list_hosts") return hostsOf({ id: "lab/browser", model: "web" });
      if (name === "dump_ui_elements") return answers("A screen with many words. ".repeat(600));
      return answers(`${name} went well\n${name === "take_control" ? "session_id: lease-4711" : ""}`);
    };
    const { api, again } = await lab(model, { respond, call, contextTokens: 14_000 });
    const { id, ended, events } = await again().say(`${bySkill["control-device"]} with a gap`);
    expect(ended, JSON.stringify(ended.error)).toMatchObject({ outcome: "done" });
    expect(events.filter((event) => event.type === "progress" && event.segment)).not.toEqual([]);
    const full = (message: string) => message.includes("prompt is too long");
    expect(api.refused.filter(({ message }) => !full(message))).toEqual([]);
    const { messages } = api.requests.at(-1)?.body ?? never();
    const text = JSON.stringify(messages);
    for (const words of ["with a gap", "lease-4711", "execute_device_action"]) expect(text).toContain(words);
    // Another process goes on with the short one, and with the last results as they were.
    expect((await again().say("and now?", id)).ended).toMatchObject({ outcome: "done" });
    const next = api.requests.at(-1)?.body.messages ?? never();
    expect(next.slice(0, messages.length)).toEqual(messages);
  });

  test.each([
    ["The lease is lease-4711 and all is well.", true],
    [null, true],
    [null, false],
  ])("is summed up by the API where the model does that, with the summary %j (%s)", async (summary, compacts) => {
    const long = answers(`session_id: lease-4711\n${"and so on ".repeat(25_000)}\nexecution_id: run-42`);
    const call: Call = ({ name }) =>
      name === "list_hosts" ? hostsOf({ id: "lab/browser", model: "web" }) : long;
    let asked = 0;
    const respond: Respond = () => (asked++ % 4 < 3 ? calls("take_control") : says("done"));
    const model = compacts ? opus : haiku;
    const { api, again } = await lab(model, { respond, call, summary });
    const { id, ended } = await again().say(bySkill["control-device"]);
    expect(ended, JSON.stringify(ended.error)).toMatchObject({ outcome: "done", turns: 4 });
    expect(api.refused).toEqual([]);
    const summed = api.requests.filter(({ body }) => body.compaction);
    expect(summed).toHaveLength(compacts ? 1 : 0);
    const first = JSON.stringify(api.requests.at(-1)?.body.messages[0]);
    for (const words of [bySkill["control-device"], "lease-4711", "run-42"]) expect(first).toContain(words);
    if (summary) expect(first).toContain(`Summary: ${summary}`);
    // What the summary cost is part of what the message cost.
    const inputs = api.requests.reduce((sum, { usage }) => sum + inputOf(usage), 0);
    expect(inputOf(ended.usage)).toBe(inputs);
    expect((await again().say(`${bySkill["control-device"]} again`, id)).ended.outcome).toBe("done");
    expect(api.refused).toEqual([]);
  });

  test("that could not be shortened, since it could not be stored, is as it was", async () => {
    const steps = ["take_control", ...Array(6).fill("dump_ui_elements")];
    const respond: Respond = () => {
      const tool = steps.shift();
      return tool === undefined ? says("all of it") : calls(tool, { device_id: "lab/browser" });
    };
    const call: Call = ({ name }) => {
      if (name === "list_hosts") return hostsOf({ id: "lab/browser", model: "web" });
      return answers(name === "dump_ui_elements" ? "A screen with many words. ".repeat(600) : "lease-4711");
    };
    const { again, api, store } = await lab(gatewayModel.id, { respond, call, contextTokens: 14_000 });
    const { say, conversations } = again();
    const { id } = await conversations.create({ owner: "anna" });
    const append = store.append.bind(store);
    store.append = async (session, holder, entries) => {
      if (entries.events?.some((event) => event.type === "progress" && event.segment))
        throw new Error("the disk is full");
      return append(session, holder, entries);
    };
    await expect(say(`${bySkill["control-device"]} with a gap`, id)).rejects.toThrow(/disk is full/);
    store.append = append;
    steps.length = 0;
    expect((await say("and now?", id)).ended).toMatchObject({ outcome: "done" });
    const sent = JSON.stringify(api.requests.at(-1)?.body.messages);
    for (const words of ["with a gap", "lease-4711", "and now?"]) expect(sent).toContain(words);
  });

  test("never sends more pictures than the model takes: the oldest leave", async () => {
    const shot: ToolResult = {
      parts: [{ type: "image", mimeType: "image/jpeg", base64: jpeg }],
      isError: false,
    };
    const call: Call = ({ name }) =>
      name === "list_hosts" ? hostsOf({ id: "lab/browser", model: "web" }) : shot;
    let asked = 0;
    const respond: Respond = () => (asked++ % 41 < 40 ? calls("capture_screenshot") : says("forty pictures"));
    const { api, again } = await lab("claude-haiku-4-5", { respond, call });
    const { say, conversations } = again();
    const { id } = await conversations.create({ owner: "anna" });
    for (let message = 0; message < 4; message++) {
      const { ended } = await say(`${bySkill["control-device"]} number ${message}`, id);
      expect(ended, JSON.stringify(ended.error)).toMatchObject({ outcome: "done" });
    }
    expect(api.refused).toEqual([]);
    const pictures = api.requests.map(({ body }) => JSON.stringify(body).split(jpeg).length - 1);
    expect(Math.max(...pictures)).toBeGreaterThan(50);
    expect(JSON.stringify(api.requests.at(-1)?.body)).toContain(
      "Pictures, screens and listings have left it",
    );
  });

  test("that is longer than its model can read ends by that name", async () => {
    const { again } = await lab(opus, { contextTokens: 300 });
    const { ended } = await again().say(bySkill["run-script"]);
    expect(ended).toMatchObject({ outcome: "limit", limit: "context_full" });
  });
});

test.each(priced)("%s has room to think before it names a skill", async (model) => {
  const respond: Respond = ({ tools }) => says(tools === undefined ? "list-resources" : "there");
  const { again, api } = await lab(model, { respond, thinkingTokens: 900 });
  const { events } = await again().say("could you maybe check something");
  expect(events[0]).toMatchObject({ type: "skill_loaded", skill: "list-resources", chosen_by: "model" });
  expect(api.refused).toEqual([]);
});
