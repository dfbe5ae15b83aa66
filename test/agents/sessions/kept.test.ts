import { systemClock } from "@labwright/agent-client";
import { expect, test } from "vitest";
import { fakeLab, openTalk } from "../../fixtures/agentLab.ts";
import { modelsAt } from "../../fixtures/agentLoop.ts";
import { memoryStore } from "../../fixtures/memoryStore/memoryStore.ts";
import { hold } from "../../fixtures/messagesApi/gate.ts";
import { held, says } from "../../fixtures/messagesApi/reply.ts";
import { lonely, openTalks, scriptRequest } from "./talk.ts";

const { open, model } = openTalks();

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

test("a message reads what is new of a conversation; one that rested is read anew", async () => {
  const store = memoryStore(systemClock);
  const read: [after: number, count: number][] = [];
  const messages = store.messages.bind(store);
  store.messages = async (id, range) => {
    const found = await messages(id, range);
    read.push([range.after, found.length]);
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
    [6, 0],
  ]);
  expect(JSON.stringify(api.requests.at(-1)?.body.messages)).toContain("said elsewhere");
  await expect
    .poll(
      async () => {
        await talking.say("and once more please", id);
        return read.at(-2);
      },
      { timeout: 20_000, interval: 1_000 },
    )
    .toEqual([0, expect.any(Number)]);
  expect(api.refused).toEqual([]);
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
  const stored = await store.messages(id, { after: 0, limit: 1_000 });
  expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, at) => at + 1));
  expect(JSON.stringify(stored)).not.toContain(lost);
  expect(api.refused).toEqual([]);
});
