import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settingsSchema } from "@labwright/agent-client/settings";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AgentEventBody } from "#agent-client/events.ts";
import { runAgent } from "#agent-client/loop/runAgent.ts";
import { openModels } from "#agent-client/model/models.ts";
import { recordingFetch } from "#agent-client/model/recording.ts";
import { inMemory, toolSpec } from "../../fixtures/agentLoop.ts";
import { replayingFetch } from "../../fixtures/messagesApi/replay.ts";
import { calls, error, says, thinks, together } from "../../fixtures/messagesApi/reply.ts";
import { script } from "../../fixtures/messagesApi/script.ts";
import { startMessagesApi, testKey } from "../../fixtures/messagesApi/server.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "labwright-replay-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const prefix = { system: "You test.", specs: [toolSpec("press_key")] };

/** What a run reported, without what is measured. */
async function run(url: string, wire: typeof fetch, prompt = "Press HOME") {
  const events: AgentEventBody[] = [];
  const env = { ANTHROPIC_API_KEY: testKey, ANTHROPIC_BASE_URL: url };
  const keyFile = join(folder, "no-key");
  const { ended, history } = await runAgent({
    models: openModels({ settings: settingsSchema.parse({}), env, keyFile, fetch: wire }).current(),
    ...prefix,
    restart: inMemory(prefix),
    call: async () => ({ parts: [{ type: "text", text: "pressed" }], isError: false }),
    gate: async () => undefined,
    history: [{ role: "user", content: prompt }],
    limits: { turns: 10, tokens: 1e9, cost_usd: 1e9, timeout_ms: 60_000, max_output_tokens: 1_000 },
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
    save: async () => {},
    now: () => 0,
  });
  return { ended, history, events };
}

test("a run that was recorded is the same run when it is replayed, with no server", async () => {
  const file = join(folder, "run.jsonl");
  const steps = [
    error(529, "overloaded_error", { retryAfter: 0.01 }),
    together(thinks("HOME it is."), says("I press it."), calls("press_key", { key: "HOME" })),
    says("Done."),
  ];
  const api = await startMessagesApi({ respond: script(steps) });
  const recorded = await run(api.url, recordingFetch(file, fetch));
  await api.close();
  expect(recorded.ended).toMatchObject({ outcome: "done", text: "Done.", turns: 2 });
  const replayed = await run(api.url, replayingFetch(file));
  expect(JSON.stringify(replayed)).toBe(JSON.stringify(recorded));
});

test("another message than the recorded one ends the run with what differs", async () => {
  const file = join(folder, "run.jsonl");
  const api = await startMessagesApi({ respond: script([says("Done.")]) });
  await run(api.url, recordingFetch(file, fetch));
  await api.close();
  const { ended } = await run(api.url, replayingFetch(file), "Press BACK");
  expect(ended).toMatchObject({ outcome: "failed", error: { code: "MODEL_FAILED" } });
  expect(ended.error?.message).toContain("Line 1 of");
  expect(ended.error?.message).toContain("Press BACK");
});
