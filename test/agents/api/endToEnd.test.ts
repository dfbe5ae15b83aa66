import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { hold } from "../../fixtures/messagesApi/gate.ts";
import { calls, held, says } from "../../fixtures/messagesApi/reply.ts";
import type { Step } from "../../fixtures/messagesApi/script.ts";
import { type ApiFixture, failure, heard, startFixture } from "./apiFixture.ts";
import { type RealConversations, realConversations } from "./realConversations.ts";

async function start(steps: readonly Step[]): Promise<{ api: ApiFixture; real: RealConversations }> {
  const real = await realConversations(steps);
  onTestFinished(real.close);
  const api = await startFixture({ conversations: real.conversations });
  return { api, real };
}

const runsScript = (): Step[] => [
  calls("get_compatible_hosts", {}),
  calls("execute_script", { script: "goto" }),
  says("goto on browser: passed"),
];
const text = "Run script goto on browser";
const created = z.object({ id: z.string() });
const told = z.object({ type: z.string(), seq: z.int(), partial: z.boolean().optional() });
type LinkMessage = z.output<typeof told>;
/** What a reader of the events remembers of them. */
const gist = (events: readonly LinkMessage[]) =>
  events.filter((one) => !one.partial && one.type !== "progress").map(({ type }) => type);
const whole = [
  "skill_loaded",
  "tool_call",
  "tool_result",
  "tool_call",
  "tool_result",
  "message",
  "session_ended",
];
const newSession = async ({ call }: ApiFixture) => created.parse((await call("POST", "/sessions")).body).id;

it("does the same through a waiting request and a socket", async () => {
  const { api, real } = await start([...runsScript(), ...runsScript()]);
  const waited = await api.call("POST", `/sessions/${await newSession(api)}/messages?wait=true`, {
    body: { text },
  });
  const answer = z
    .object({ events: z.array(told), end: z.looseObject({ outcome: z.string(), text: z.string() }) })
    .parse(waited.body);
  expect(gist(answer.events)).toEqual(whole);
  expect(answer.end).toMatchObject({ outcome: "done", text: "goto on browser: passed" });

  const socket = api.connect();
  const events = heard(socket);
  expect(await socket.emitWithAck("send_message", { text })).toMatchObject({ ok: true });
  await expect.poll(() => events.at(-1)?.type).toBe("session_ended");
  expect(gist(z.array(told).parse(events))).toEqual(whole);

  expect(real.calls.filter(({ name }) => name !== "list_hosts").map(({ name }) => name)).toEqual([
    ...["get_compatible_hosts", "execute_script"],
    ...["get_compatible_hosts", "execute_script"],
  ]);
  for (const { body } of real.model.requests) expect(body.tools).toHaveLength(3);
});

it("takes the next message at once after a run that was waited for, and refuses one during it", async () => {
  const gate = hold();
  const { api } = await start([held(gate, says("first")), says("second"), says("third")]);
  const path = `/sessions/${await newSession(api)}/messages?wait=true`;
  const first = api.call("POST", path, { body: { text } });
  await gate.reached;
  expect(await api.call("POST", path, { body: { text } })).toMatchObject({
    status: 409,
    body: failure("SESSION_BUSY", 409),
  });
  gate.open();
  expect(await first).toMatchObject({ status: 200, body: { end: { text: "first" } } });
  expect(await api.call("POST", path, { body: { text } })).toMatchObject({
    status: 200,
    body: { end: { text: "second" } },
  });
});

it("reports a client that lost its connection in the middle of a run the rest of it", async () => {
  const gate = hold();
  const { api, real } = await start([
    calls("get_compatible_hosts", {}),
    held(gate, says("goto on browser: passed")),
  ]);
  const session_id = await newSession(api);
  const first = api.connect();
  const before = heard(first);
  await first.emitWithAck("send_message", { session_id, text });
  await gate.reached;
  await expect.poll(() => before.some(({ type }) => type === "tool_result")).toBe(true);
  first.io.engine.close();
  gate.open();
  await real.conversations.ended(session_id, "local");

  const second = api.connect();
  const after = heard(second);
  const last = before.at(-1)?.seq ?? 0;
  await second.emitWithAck("join_session", { session_id, after: last });
  await expect.poll(() => after.at(-1)?.type).toBe("session_ended");
  const all = [...before, ...after].map(({ seq }) => seq);
  expect(all).toEqual([...new Set(all)].sort((a, b) => a - b));
  const kept = await real.conversations.events(session_id, "local", { after: 0 });
  expect(all).toEqual(expect.arrayContaining(kept.map(({ seq }) => seq)));
});

it("refuses a message of 10 MB in words and can be talked to afterwards", async () => {
  const { api } = await start(runsScript());
  const id = await newSession(api);
  expect(
    await api.call("POST", `/sessions/${id}/messages`, { body: { text: "a".repeat(10_000_000) } }),
  ).toMatchObject({ status: 413, body: failure("INPUT_TOO_LARGE", 413) });
  expect(await api.call("POST", `/sessions/${id}/messages?wait=true`, { body: { text } })).toMatchObject({
    status: 200,
    body: { end: { outcome: "done" } },
  });
});
