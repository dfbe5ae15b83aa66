import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { settingsSchema } from "@labwright/agent-client/settings";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Message } from "#agent-client/loop/history.ts";
import { runAgent } from "#agent-client/loop/runAgent.ts";
import { openModels } from "#agent-client/model/models.ts";
import { inMemory, toolSpec } from "../fixtures/agentLoop.ts";
import { exchangesIn, replayingFetch } from "../fixtures/messagesApi/replay.ts";
import { calls, says, thinks, together } from "../fixtures/messagesApi/reply.ts";
import {
  assertRequest,
  blocksOf,
  type MessagesRequest,
  namedTools,
  systemOf,
} from "../fixtures/messagesApi/request.ts";
import type { Respond } from "../fixtures/messagesApi/script.ts";
import { startMessagesApi, testKey } from "../fixtures/messagesApi/server.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const record = (args: readonly string[], env: NodeJS.ProcessEnv) =>
  promisify(execFile)(process.execPath, [join(here, "record.mjs"), ...args], { env });
const cassettes = readdirSync(here).filter((name) => name.endsWith(".jsonl"));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "labwright-cassettes-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Line = { text: string; body: MessagesRequest };

/** The exchanges of each run in a file: a run's last reply calls no tool. What was asked without a stream is no turn. */
function runsIn(file: string): Line[][] {
  const runs: Line[][] = [[]];
  for (const exchange of exchangesIn(readFileSync(file, "utf8"))) {
    const { request, response } = exchange;
    const { body } = request;
    const text = JSON.stringify(exchange);
    assertRequest(body);
    if (!body.stream) continue;
    const isLast = response.status === 200 && !response.body.includes('"stop_reason":"tool_use"');
    runs.at(-1)?.push({ text, body });
    if (isLast) runs.push([]);
  }
  return runs.filter((run) => run.length > 0);
}

/** The tools of a run: those of the request, or those that its last message adds. */
function toolsOf(request: MessagesRequest) {
  const { messages, context_management } = request;
  const tools = namedTools(request);
  const writes = context_management?.edits?.[0]?.exclude_tools ?? [];
  const toSpec = ({ name, description = "", input_schema }: (typeof tools)[number]) =>
    toolSpec(name, { description, input_schema, readOnly: !writes.includes(name) });
  const last = messages.at(-1);
  const added = (last?.role === "system" ? blocksOf(last) : []).flatMap((block) =>
    block.type === "tool_addition" && block.tool.type === "tool_definition" ? [block.tool.definition] : [],
  );
  return { specs: tools.map(toSpec), ...(added.length > 0 && { inline: added.map(toSpec) }) };
}

/** Whether each call of a run failed, in the order in which they were answered. */
const failuresIn = (run: readonly Line[]): boolean[] =>
  (run.at(-1)?.body.messages.slice(run[0]?.body.messages.length) ?? [])
    .flatMap(blocksOf)
    .flatMap((block) => (block.type === "tool_result" ? [block.is_error === true] : []));

async function replay(run: readonly Line[]) {
  const [first] = run;
  if (first === undefined) throw new Error("a run of no exchange");
  const file = join(folder, "run.jsonl");
  writeFileSync(file, run.map(({ text }) => text).join("\n"));
  const { model, max_tokens } = first.body;
  const { messages } = z.object({ messages: z.array(z.custom<Message>()) }).parse(first.body);
  const [system] = systemOf(first.body);
  const prefix = { system: system?.text ?? "", ...toolsOf(first.body) };
  const failures = failuresIn(run);
  const { ended } = await runAgent({
    models: openModels({
      settings: settingsSchema.parse({}),
      env: { ANTHROPIC_API_KEY: "replay", DEFAULT_MODEL: model },
      keyFile: "",
      fetch: replayingFetch(file),
    }).current(),
    ...prefix,
    restart: inMemory(prefix),
    call: async () => ({ parts: [{ type: "text", text: "replayed" }], isError: failures.shift() === true }),
    gate: async () => undefined,
    history: messages.filter((message, at) => at < messages.length - 1 || message.role !== "system"),
    limits: { turns: 1_000, tokens: 1e9, cost_usd: 1e9, timeout_ms: 60_000, max_output_tokens: max_tokens },
    signal: new AbortController().signal,
    emit: () => {},
    save: async () => {},
    now: () => 0,
  });
  return { ended, turns: run.length };
}

async function replayAll(file: string): Promise<number> {
  const runs = runsIn(file);
  for (const run of runs) {
    const { ended, turns } = await replay(run);
    expect(ended, `${file}: ${JSON.stringify(ended.error)}`).toMatchObject({ outcome: "done", turns });
  }
  return runs.length;
}

test(`${cassettes.length} cassettes of the live API are replayed by the loop, request by request`, async () => {
  for (const name of cassettes) expect(await replayAll(join(here, name))).toBeGreaterThan(0);
});

/** The model's part in what `record.mjs` says: it uses the first of these tools that it has, once a message. */
const uses: readonly (readonly [string, object])[] = [
  ["capture_screenshot", { device_id: "lab/browser" }],
  [
    "execute_script",
    {
      script: "goto",
      args: ["Second"],
      device_id: "lab/browser",
      userinterface_name: "shop",
      wait_ms: 60_000,
    },
  ],
  ["list_hosts", {}],
  ["get_device_info", { device_id: "lab/browser" }],
];
const respond: Respond = (_, { results, tools }) => {
  const [name, input] = uses.find(([tool]) => tools.includes(tool)) ?? [];
  if (results.length > 0 || name === undefined) return says("So much for that. ".repeat(20));
  return together(thinks("I look first."), calls(name, { ...input }));
};

test("what `npm run record` recorded just now from the stand-in is replayed; another reply is not", async () => {
  const api = await startMessagesApi({ respond });
  const env = { ...process.env, ANTHROPIC_API_KEY: testKey, ANTHROPIC_BASE_URL: api.url };
  const { stdout } = await record([folder], env);
  await api.close();
  expect(api.refused).toEqual([]);
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  expect(files).toEqual([
    "list-devices.jsonl",
    "long-answer.jsonl",
    "picture.jsonl",
    "run-script.jsonl",
    "skill-change.jsonl",
  ]);
  expect(stdout.match(/^[\w-]+: \d+ exchanges$/gm)).toHaveLength(5);
  for (const name of files) {
    expect(readFileSync(join(folder, name), "utf8")).not.toContain(testKey);
    expect(await replayAll(join(folder, name)), name).toBe(name === "skill-change.jsonl" ? 3 : 1);
  }
  expect(readFileSync(join(folder, "picture.jsonl"), "utf8")).toContain('"type":"image"');
  expect(readFileSync(join(folder, "run-script.jsonl"), "utf8")).toContain("status: passed");
  const changed = join(folder, "list-devices.jsonl");
  writeFileSync(changed, readFileSync(changed, "utf8").replace("I look first.", "I looked first."));
  await expect(replayAll(changed)).rejects.toThrow(/is another request/);
}, 240_000);

test("without a key, `npm run record` says what to do", async () => {
  const { ANTHROPIC_API_KEY: _, ...env } = process.env;
  await expect(record([folder], env)).rejects.toMatchObject({
    code: 2,
    stdout: expect.stringContaining("set ANTHROPIC_API_KEY"),
  });
});
