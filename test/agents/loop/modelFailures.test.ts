import { expect, test } from "vitest";
import type { Message } from "#agent-client/loop/history.ts";
import { modelAt } from "../../fixtures/agentLoop.ts";
import {
  calls,
  callsBroken,
  cut,
  error,
  faulty,
  type Reply,
  says,
} from "../../fixtures/messagesApi/reply.ts";
import { script } from "../../fixtures/messagesApi/script.ts";
import { startMessagesApi } from "../../fixtures/messagesApi/server.ts";
import { nothingRefused, openLoopLab, run } from "./loopLab.ts";

const { api, apiOf } = openLoopLab();

test("a tool that is not there is an error for the model; a model that calls nothing else is given up by name", async () => {
  const once = await api(calls("fly"), says("sorry"));
  expect((await run(once)).ended).toMatchObject({ outcome: "done", text: "sorry" });
  const always = await api(...Array.from({ length: 9 }, () => calls("fly")));
  const { ended, log } = await run(always);
  expect(ended).toMatchObject({
    outcome: "failed",
    error: { code: "WEAK_MODEL" },
  });
  expect(always.requests).toHaveLength(3);
  expect(log).toEqual([]);
});

test("a tool's input that is no JSON is asked for again, and nothing of it is run", async () => {
  const server = await api(callsBroken("act", '{"key": '), calls("act", { key: "OK" }), says("done"));
  const { ended, log } = await run(server);
  expect(ended).toMatchObject({ outcome: "done" });
  expect(log).toEqual(["act"]);
  nothingRefused(server);
});

const cuts = [
  ["in the middle of a tool's input", "in_tool_input"],
  ["after the whole call, before its last event", "before_stop"],
  ["after its first events", { afterEvents: 2 }],
] as const;
test.each(cuts)("a stream that is cut %s is asked for again, and its tool is run once", async (_, where) => {
  const server = await api(
    cut(calls("act", { key: "OK" }), where),
    calls("act", { key: "OK" }),
    says("done"),
  );
  const { ended, log } = await run(server);
  expect(ended).toMatchObject({ outcome: "done", turns: 2 });
  expect(log).toEqual(["act"]);
  const never = await api(...Array.from({ length: 9 }, () => cut(calls("act"), where)));
  const failed = await run(never);
  expect(failed.ended).toMatchObject({ outcome: "failed", error: { code: "MODEL_FAILED" } });
  expect(failed.log).toEqual([]);
});

test("429 and 529 are waited for as they say, and the run goes on", async () => {
  const told = [
    error(429, "rate_limit_error", { retryAfter: 0.9 }),
    error(529, "overloaded_error", { retryAfter: 1.1 }),
  ];
  const asked: number[] = [];
  const respond = script([...told, says("done")]);
  const server = await apiOf({
    respond(request, context) {
      asked.push(performance.now());
      return respond(request, context);
    },
  });
  expect((await run(server)).ended).toMatchObject({ outcome: "done", turns: 1 });
  const [first = 0, second = 0, third = 0] = asked;
  // Without that word the SDK waits half a second, then one, less a quarter.
  expect([second - first >= 899, third - second >= 1_099]).toEqual([true, true]);
});

test.each([
  "overloaded_error",
  "api_error",
])("%s inside of a stream: the same is asked again, and nothing of the piece is kept", async (type) => {
  const server = await api(faulty(says("half of a word"), type, 4), says("done"));
  const { ended, history } = await run(server);
  expect(ended).toMatchObject({ outcome: "done", text: "done", turns: 1 });
  expect(JSON.stringify(history)).not.toContain("half");
  expect(server.requests[1]?.body).toEqual(server.requests[0]?.body);
  nothingRefused(server);
});

test.each([
  "claude-opus-4-8",
  "claude-opus-5-5",
])("an empty reply, a refusal and a full window are ends by name that can be gone on from, with %s", async (model) => {
  for (const [reply, end] of [
    [{ blocks: [] }, { outcome: "failed", error: { code: "MODEL_FAILED" } }],
    [says("so far", "model_context_window_exceeded"), { outcome: "limit", limit: "context_full" }],
    [says("no", "refusal"), { outcome: "refused" }],
  ] as const) {
    const server = await api(reply, says("on we go"));
    const models = [modelAt(server.url, { model })];
    const first = await run(server, { models });
    expect(first.ended).toMatchObject(end);
    const history: Message[] = [...first.history, { role: "user", content: "Please go on" }];
    expect((await run(server, { models, history })).ended).toMatchObject({ outcome: "done" });
    nothingRefused(server);
  }
});

test("what the API says of a request that it does not take is reported, with what can be mended", async () => {
  const server = await api(says("never"));
  const [endpoint] = [{ ...modelAt(server.url), effort: "low" as const, thinking: "disabled" as const }];
  const { ended } = await run(server, { models: [endpoint] });
  expect(ended).toMatchObject({
    outcome: "failed",
    error: {
      code: "MODEL_FAILED",
      message: expect.stringContaining('"thinking.type.disabled" is not supported for this model'),
      hint: expect.stringContaining("agents.models"),
    },
  });
});

test("what stays refused ends by name: rate, load, key, model, network", async () => {
  const cases: [Reply, string][] = [
    [error(429, "rate_limit_error", { retryAfter: 0.01 }), "RATE_LIMITED"],
    [error(529, "overloaded_error", { retryAfter: 0.01 }), "MODEL_OVERLOADED"],
    [error(404, "not_found_error"), "MODEL_NOT_FOUND"],
  ];
  for (const [reply, code] of cases) {
    const server = await apiOf({ respond: () => reply });
    expect((await run(server)).ended).toMatchObject({ outcome: "failed", error: { code } });
  }
  const server = await api(says("never"));
  const wrong = await run(server, { models: [modelAt(server.url, { key: "wrong-key" })] });
  expect(wrong.ended).toMatchObject({ outcome: "failed", error: { code: "API_KEY_INVALID" } });
  expect(JSON.stringify(wrong.ended)).not.toContain("wrong-key");
  const gone = await startMessagesApi({ respond: () => says("never") });
  await gone.close();
  expect((await run(gone)).ended).toMatchObject({ outcome: "failed", error: { code: "MODEL_FAILED" } });
  expect((await run([])).ended).toMatchObject({ outcome: "failed", error: { code: "NO_API_KEY" } });
});

test("the next model goes on with the same history when one fails, and an event says so", async () => {
  const first = await api(
    calls("act"),
    ...Array.from({ length: 3 }, () => error(529, "overloaded_error", { retryAfter: 0.01 })),
  );
  const second = await api(says("done by the second"));
  const { ended, events, log } = await run([first, second]);
  expect(ended).toMatchObject({ outcome: "done", text: "done by the second", turns: 2 });
  expect(log).toEqual(["act"]);
  expect(second.requests[0]?.body.messages).toHaveLength(3);
  expect(JSON.stringify(second.requests[0]?.body.messages)).toContain("act done");
  expect(events).toContainEqual(expect.objectContaining({ type: "progress", kind: "model" }));
});
