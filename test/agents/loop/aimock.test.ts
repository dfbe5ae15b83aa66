import { afterEach, expect, test } from "vitest";
import type { AgentEventBody } from "#agent-client/events.ts";
import { runAgent } from "#agent-client/loop/runAgent.ts";
import { inMemory, modelAt, toolSpec } from "../../fixtures/agentLoop.ts";
import { type Aimock, startAimock } from "../../fixtures/aimock.ts";

/** The loop on a server that is not ours: what works only on our own stand-in fails here. */
let mock: Aimock | undefined;
afterEach(async () => {
  await mock?.close();
  mock = undefined;
});

const prefix = { system: "You test.", specs: [toolSpec("press_key")] };

async function run(...fixtures: Parameters<typeof startAimock>[0]) {
  mock = await startAimock(fixtures);
  const events: AgentEventBody[] = [];
  const called: unknown[] = [];
  const { ended, history } = await runAgent({
    models: [modelAt(mock.url)],
    ...prefix,
    restart: inMemory(prefix),
    async call({ input }) {
      called.push(input);
      return { parts: [{ type: "text", text: "pressed" }], isError: false };
    },
    gate: async () => undefined,
    history: [{ role: "user", content: "Press HOME" }],
    limits: { turns: 10, tokens: 1e9, cost_usd: 1e9, timeout_ms: 60_000, max_output_tokens: 1_000 },
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
    save: async () => {},
    now: () => performance.now(),
  });
  return { ended, history, events, called };
}

const press = { toolCalls: [{ name: "press_key", arguments: '{"key":"HOME"}' }] };

test("a text ends the run, in pieces and whole", async () => {
  const { ended, events } = await run({ match: {}, response: { content: "There are two devices here." } });
  expect(ended).toMatchObject({ outcome: "done", text: "There are two devices here.", turns: 1 });
  const pieces = events.flatMap((event) => (event.type === "message" && event.partial ? [event.text] : []));
  expect(pieces.join("")).toBe("There are two devices here.");
});

test("one call is run once and its result goes back", async () => {
  const { ended, called, history } = await run(
    { match: { hasToolResult: false }, response: press },
    { match: { toolResultContains: "pressed" }, response: { content: "Done." } },
  );
  expect(called).toEqual([{ key: "HOME" }]);
  expect(ended).toMatchObject({ outcome: "done", text: "Done.", turns: 2 });
  expect(history.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
});

test("a request that met a rate limit is asked again", async () => {
  const limited = {
    error: { message: "slow down", type: "rate_limit_error" },
    status: 429,
    retryAfter: 0.01,
  };
  const { ended } = await run(
    { match: { sequenceIndex: 0 }, response: limited },
    { match: {}, response: { content: "now" } },
  );
  expect(ended).toMatchObject({ outcome: "done", text: "now" });
  expect(mock?.asked().map(({ status }) => status)).toEqual([429, 200]);
});

test("a connection that always breaks in the middle of a call runs nothing and fails by name", async () => {
  const broken = { toolCalls: [{ name: "press_key", arguments: '{"key":"A_LONG_NAME_OF_A_KEY"}' }] };
  const { ended, called } = await run({ match: {}, response: broken, chunkSize: 4, truncateAfterChunks: 4 });
  expect(called).toEqual([]);
  expect(ended).toMatchObject({ outcome: "failed", error: { code: "MODEL_FAILED" } });
});

test("a connection that breaks once is asked again", async () => {
  const { ended, called } = await run(
    { match: { sequenceIndex: 0 }, response: press, chunkSize: 4, truncateAfterChunks: 4 },
    { match: { hasToolResult: false }, response: press },
    { match: { hasToolResult: true }, response: { content: "Done." } },
  );
  expect(called).toEqual([{ key: "HOME" }]);
  expect(ended).toMatchObject({ outcome: "done", text: "Done." });
});
