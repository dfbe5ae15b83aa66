import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { AgentError } from "@labwright/agent-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { recordingFetch } from "#agent-client/model/recording.ts";
import { hold } from "../../fixtures/messagesApi/gate.ts";
import { replayingFetch } from "../../fixtures/messagesApi/replay.ts";
import { calls, cut, error, held, says, together } from "../../fixtures/messagesApi/reply.ts";
import { type Respond, script } from "../../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi, testKey } from "../../fixtures/messagesApi/server.ts";
import { ask, clientOf, tool } from "../standin/client.ts";

let folder: string;
let file: string;
let api: MessagesApi | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "labwright-recording-"));
  file = join(folder, "run.jsonl");
});
afterEach(async () => {
  await api?.close();
  api = undefined;
  rmSync(folder, { recursive: true });
});

async function recorder(respond: Respond): Promise<Anthropic> {
  api = await startMessagesApi({ respond });
  return clientOf(api.url, { maxRetries: 2, fetch: recordingFetch(file, fetch) });
}

/** Nothing answers at that address: what is answered comes from the file. */
const replayer = (baseURL = "http://127.0.0.1:1") =>
  clientOf(baseURL, { apiKey: "another-key", maxRetries: 2, fetch: replayingFetch(file) });

/** A conversation with one tool, as the events that its streams reported. */
async function converse(
  client: Anthropic,
  text = "Press HOME",
  answer = () => "pressed",
): Promise<unknown[]> {
  const events: unknown[] = [];
  const runner = client.beta.messages.toolRunner({
    ...ask(text),
    thread: false,
    stream: true,
    tools: [{ ...tool("press_key"), parse: (input: unknown) => input, run: answer }],
  });
  for await (const stream of runner) for await (const event of stream) events.push(event);
  return events;
}

const conversation = () =>
  script([together(says("I press it: ünï ✓."), calls("press_key", { key: "HOME" })), says("Done.")]);
const lines = () => readFileSync(file, "utf8").trimEnd().split("\n");

test("a recorded conversation is replayed without a network, event by event", async () => {
  const told = await converse(await recorder(conversation()));
  await api?.close();
  expect(await converse(replayer())).toEqual(told);
  expect(told.length).toBeGreaterThan(10);
});

test("a file has a line for each exchange, for its owner only, and no key", async () => {
  await converse(await recorder(conversation()));
  expect(lines()).toHaveLength(2);
  expect(JSON.parse(lines()[0] ?? "")).toMatchObject({
    request: { method: "POST", path: "/v1/messages", body: { tools: [{ name: "press_key" }] } },
    response: { status: 200, body: expect.stringContaining("event: message_stop") },
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = lines().join("\n").toLowerCase();
  expect(text).not.toContain(testKey);
  expect(text).not.toContain("authorization");
});

test("a key that an endpoint repeats is not written", async () => {
  const client = await recorder(() =>
    error(401, "authentication_error", { message: `wrong key: ${testKey}` }),
  );
  await expect(client.beta.messages.create(ask("go"))).rejects.toThrow(testKey);
  expect(lines().join("")).toContain("wrong key: ***");
});

test("recording goes on where a file ends, and takes it from everybody else", async () => {
  writeFileSync(file, "", { mode: 0o644 });
  const client = await recorder(script([says("one"), says("two")]));
  await client.beta.messages.create(ask("first"));
  const more = clientOf(api?.url ?? "", { fetch: recordingFetch(file, fetch) });
  await more.beta.messages.create(ask("second"));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const client2 = replayer();
  expect((await client2.beta.messages.create(ask("first"))).content).toMatchObject([{ text: "one" }]);
  expect((await client2.beta.messages.create(ask("second"))).content).toMatchObject([{ text: "two" }]);
});

test("a stream arrives while it is recorded", async () => {
  const gate = hold();
  const client = await recorder(script([held(gate, says("one two three four five six"), 4)]));
  const stream = client.beta.messages.stream(ask("go"));
  const texts: string[] = [];
  stream.on("text", (text) => texts.push(text));
  await gate.reached;
  await expect.poll(() => texts.length).toBe(1);
  expect(readFileSync(file, "utf8")).toBe("");
  gate.open();
  await stream.finalMessage();
  expect(lines()).toHaveLength(1);
});

describe("faults are replayed too", () => {
  test("a rate limit, without its waiting time", async () => {
    const client = await recorder(
      script([error(429, "rate_limit_error", { retryAfter: 0.02 }), says("now")]),
    );
    await client.beta.messages.create(ask("go"));
    const [first = "", ...rest] = lines();
    writeFileSync(file, [first.replace('"retry-after":"0.02"', '"retry-after":"600"'), ...rest].join("\n"));
    expect((await replayer().beta.messages.create(ask("go"))).content).toMatchObject([{ text: "now" }]);
  });

  test("a stream that broke off in the middle of a call", async () => {
    const broken = cut(calls("press_key", { key: "A_LONG_NAME_OF_A_KEY" }), "in_tool_input");
    await expect(converse(await recorder(script([broken])))).rejects.toThrow();
    expect(JSON.parse(lines()[0] ?? "")).toMatchObject({ response: { is_cut: true } });
    await expect(converse(replayer())).rejects.toThrow();
  });

  test("a stream that no one wants any more while it is waited for", async () => {
    const gate = hold();
    api = await startMessagesApi({ respond: script([held(gate, says("one two three four five six"), 4)]) });
    const response = await recordingFetch(file, fetch)(`${api.url}/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${testKey}`, "anthropic-version": "2026-10-21" },
      body: JSON.stringify(ask("go", { stream: true })),
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("content_block_delta")) text += (await reader?.read())?.value ?? "";
    const more = reader?.read();
    await reader?.cancel();
    expect(await more).toMatchObject({ done: true });
    await expect.poll(() => api?.requests[0]?.isCut).toBe(true);
    expect(lines()).toHaveLength(1);
    expect(JSON.parse(lines()[0] ?? "")).toMatchObject({ response: { is_cut: true } });
  });

  test("a run that was interrupted", async () => {
    const gate = hold();
    const client = await recorder(script([held(gate, says("one two three four five six"), 4)]));
    const stream = client.beta.messages.stream(ask("go"));
    const isTold = new Promise<void>((resolve) => stream.on("text", () => resolve()));
    await isTold;
    stream.abort();
    await expect(stream.done()).rejects.toThrow(Anthropic.APIUserAbortError);
    await expect.poll(() => readFileSync(file, "utf8")).toContain('"is_cut":true');
    expect(lines()).toHaveLength(1);
  });
});

describe("another request than the recorded one is refused", () => {
  test("with the line and what differs, and no one retries it", async () => {
    await converse(await recorder(conversation()));
    const client = replayer();
    await expect(client.beta.messages.create(ask("Press BACK"))).rejects.toThrow(Anthropic.BadRequestError);
    await expect(converse(client, "Press BACK")).rejects.toMatchObject({
      apiMessage: `Line 1 of ${file} is another request: messages.0.content is "Press BACK", recorded was "Press HOME".`,
    });
    expect(await converse(client)).not.toEqual([]);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ["a model", { model: "claude-opus-5-5" }, /model is "claude-opus-5-5", recorded was "claude-opus-4-8"/],
    ["a tool", { tools: [tool("tap")] }, /tools\.0\.name is "tap", recorded was "press_key"/],
    [
      "one tool more",
      { tools: [tool("press_key"), tool("tap")] },
      /tools\.1 is .*tap.*, recorded was nothing/,
    ],
    ["no tools", { tools: undefined }, /tools is nothing, recorded was /],
    ["a system prompt", { system: "Be rude." }, /system is "Be rude\.", recorded was "Be brief\."/],
  ])("%s", async (_, change, words) => {
    const params = { ...ask("go"), system: "Be brief.", tools: [tool("press_key")] };
    await (await recorder(script([says("ok")]))).beta.messages.create(params);
    await expect(replayer().beta.messages.create({ ...params, ...change })).rejects.toMatchObject({
      apiMessage: expect.stringMatching(words),
    });
  });

  test("one that failed where the recorded one did not", async () => {
    await converse(await recorder(conversation()));
    const failing = () => {
      throw new Error("no device");
    };
    await expect(converse(replayer(), "Press HOME", failing)).rejects.toThrow(/Line 2 .*is_error is true/);
  });

  test("another path", async () => {
    await (await recorder(script([says("ok")]))).messages.create(ask("go"));
    const { model, messages } = ask("go");
    await expect(replayer().messages.countTokens({ model, messages })).rejects.toMatchObject({
      apiMessage: expect.stringContaining('path is "/v1/messages/count_tokens", recorded was "/v1/messages"'),
    });
  });

  test("one more than there are", async () => {
    const client = await recorder(script([says("ok")]));
    await client.beta.messages.create(ask("go"));
    const again = replayer();
    await again.beta.messages.create(ask("go"));
    await expect(again.beta.messages.create(ask("go"))).rejects.toThrow(/has 1 exchanges, and one more/);
  });
});

test("what a tool answered may differ: times and handles always do", async () => {
  const told = await converse(await recorder(conversation()), "Press HOME", () => "pressed in 12 ms");
  expect(await converse(replayer(), "Press HOME", () => "pressed in 9 ms")).toEqual(told);
});

describe("a file that cannot be used is named with what to do", () => {
  const caught = (run: () => unknown) => {
    try {
      run();
    } catch (failure) {
      return failure;
    }
    return undefined;
  };

  test("a folder that is not there, a folder as a file, one that may not be read", () => {
    mkdirSync(join(folder, "sub"));
    writeFileSync(file, "");
    chmodSync(file, 0);
    const failures = [
      caught(() => recordingFetch(join(folder, "none", "run.jsonl"), fetch)),
      caught(() => recordingFetch(join(folder, "sub"), fetch)),
    ];
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(AgentError);
      expect(failure).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining(folder) });
    }
  });

  test.each([
    ["a line that is no JSON", '{"request":'],
    ["a line that is no exchange", '{"role":"user"}'],
    [
      "an exchange with an impossible status",
      '{"request":{"method":"POST","path":"/","body":{}},"response":{"status":99,"headers":{},"body":""}}',
    ],
  ])("%s", async (_, line) => {
    const client = await recorder(script([says("ok")]));
    await client.beta.messages.create(ask("go"));
    writeFileSync(file, `${lines()[0]}\n${line}\n`);
    expect(() => replayingFetch(file)).toThrow();
  });
});
