import Anthropic from "@anthropic-ai/sdk";
import { afterEach, expect, test } from "vitest";
import { hold } from "../../fixtures/messagesApi/gate.ts";
import {
  calls,
  callsBroken,
  cut,
  error,
  held,
  says,
  thinks,
  together,
} from "../../fixtures/messagesApi/reply.ts";
import { byConversation, type Respond, script } from "../../fixtures/messagesApi/script.ts";
import type { MessagesApi } from "../../fixtures/messagesApi/server.ts";
import { ask, clientOf, openStandin, tool } from "./client.ts";

let api: MessagesApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

async function open(respond: Respond): Promise<Anthropic> {
  const opened = await openStandin({ respond });
  api = opened.api;
  return opened.client;
}

/** The SDK's loop over one tool, and what the tool was called with. */
function runTool(client: Anthropic, given: { fails?: boolean } = {}) {
  const inputs: unknown[] = [];
  const runner = client.beta.messages.toolRunner({
    ...ask("Press HOME"),
    stream: true,
    thread: false,
    tools: [
      {
        ...tool("press_key"),
        parse: (input: unknown) => input,
        run: (input: unknown) => {
          inputs.push(input);
          if (given.fails) throw new Error("no device");
          return "pressed";
        },
      },
    ],
  });
  return { runner, inputs };
}

test("the SDK's runner streams a call, runs the tool and streams the answer", async () => {
  const client = await open(
    script([together(says("I press it."), calls("press_key", { key: "HOME" })), says("Done.")]),
  );
  const { runner, inputs } = runTool(client);
  const texts: string[] = [];
  for await (const stream of runner) {
    for await (const event of stream)
      if (event.type === "content_block_delta" && event.delta.type === "text_delta")
        texts.push(event.delta.text);
  }
  const last = await runner.done();
  expect(inputs).toEqual([{ key: "HOME" }]);
  expect(texts.join("")).toBe("I press it.Done.");
  expect(texts.length).toBeGreaterThan(2);
  expect(last).toMatchObject({ stop_reason: "end_turn", content: [{ type: "text", text: "Done." }] });
  const [first, second] = api?.requests ?? [];
  expect(first?.body.tools?.map(({ name }) => name)).toEqual(["press_key"]);
  expect(second?.body.messages.at(-1)).toMatchObject({
    role: "user",
    content: [{ type: "tool_result", content: "pressed" }],
  });
});

test("a tool's input comes in several pieces that are its JSON together", async () => {
  const client = await open(
    script([calls("press_key", { key: "HOME", times: [1, 2, 3], note: "ünïcode ✓" })]),
  );
  const pieces: string[] = [];
  const stream = client.beta.messages.stream({ ...ask("go"), tools: [tool("press_key")] });
  for await (const event of stream)
    if (event.type === "content_block_delta" && event.delta.type === "input_json_delta")
      pieces.push(event.delta.partial_json);
  expect(pieces.length).toBeGreaterThan(3);
  expect(pieces[0]).toBe("");
  expect(JSON.parse(pieces.join(""))).toEqual({ key: "HOME", times: [1, 2, 3], note: "ünïcode ✓" });
});

test("events come in the API's order, with the usage at both ends", async () => {
  const client = await open(script([together(thinks("Let me see."), says("Two words here"))]));
  const types: string[] = [];
  for await (const event of await client.beta.messages.create({
    ...ask("go", { model: "claude-haiku-4-5" }),
    stream: true,
  })) {
    if (types.at(-1) !== event.type) types.push(event.type);
    if (event.type === "message_start") expect(event.message.usage.input_tokens).toBe(1);
    if (event.type === "message_delta")
      expect(event.usage).toMatchObject({ input_tokens: 1, output_tokens: 7 });
  }
  expect(types).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
});

test("without a stream the reply comes whole, with the reasons to stop that a script names", async () => {
  const client = await open(script([says("No.", "refusal"), says("Half", "max_tokens"), calls("press_key")]));
  const refusal = await client.beta.messages.create(ask("one"));
  expect(refusal).toMatchObject({ stop_reason: "refusal", stop_details: { type: "refusal" } });
  expect(await client.beta.messages.create(ask("two"))).toMatchObject({ stop_reason: "max_tokens" });
  expect(await client.messages.create(ask("three"))).toMatchObject({
    stop_reason: "tool_use",
    content: [{ type: "tool_use", name: "press_key", input: {} }],
  });
  expect(api?.log).toEqual(["POST /v1/messages", "POST /v1/messages", "POST /v1/messages"]);
});

test.each([
  ["after some events", cut(says("a longer text that is cut off"), { afterEvents: 4 })],
  [
    "in the middle of a tool's input",
    cut(calls("press_key", { key: "A_LONG_NAME_OF_A_KEY" }), "in_tool_input"),
  ],
  ["before the last event", cut(says("all but the end"), "before_stop")],
])("a stream cut %s ends without a message, and nothing is run", async (_, reply) => {
  const client = await open(script([reply]));
  const { runner, inputs } = runTool(client);
  await expect(runner.runUntilDone()).rejects.toThrow(Anthropic.AnthropicError);
  expect(inputs).toEqual([]);
  await expect.poll(() => api?.requests[0]?.isCut).toBe(true);
});

test("a reply that is not streamed is cut before it begins", async () => {
  const client = await open(script([cut(says("never"), "before_stop")]));
  await expect(client.beta.messages.create(ask("go"))).rejects.toThrow(Anthropic.APIConnectionError);
});

test("what was sent before a cut arrives", async () => {
  const client = await open(
    script([cut(calls("press_key", { key: "A_LONG_NAME_OF_A_KEY" }), "in_tool_input")]),
  );
  const stream = client.beta.messages.stream({ ...ask("go"), tools: [tool("press_key")] });
  const pieces: string[] = [];
  stream.on("inputJson", (piece) => pieces.push(piece));
  await expect(stream.done()).rejects.toThrow();
  expect(pieces.join("").length).toBeGreaterThan(0);
  expect(() => JSON.parse(pieces.join(""))).toThrow();
});

test("an input that is no JSON arrives as it is", async () => {
  const client = await open(script([callsBroken("press_key", '{"key": HOME}')]));
  const { runner, inputs } = runTool(client);
  await expect(runner.runUntilDone()).rejects.toThrow(/parse tool parameter JSON/);
  expect(inputs).toEqual([]);
});

test.each([
  [429, "rate_limit_error"],
  [529, "overloaded_error"],
])("the SDK retries %d after the time that it is told", async (status, type) => {
  const asked: number[] = [];
  const respond = script([error(status, type, { retryAfter: 0.7 }), says("now")]);
  await open((request, context) => {
    asked.push(performance.now());
    return respond(request, context);
  });
  const patient = clientOf(api?.url ?? "", { maxRetries: 2 });
  const message = await patient.beta.messages.stream(ask("go")).finalMessage();
  expect(message.content).toMatchObject([{ type: "text", text: "now" }]);
  expect(api?.requests.map(({ status: given }) => given)).toEqual([status, 200]);
  // Without that word it waits half a second at most.
  expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(699);
});

test("a failure has the API's form, its type and the id of its request", async () => {
  const client = await open(
    script([error(529, "overloaded_error", { message: "Overloaded", retryAfter: 3 })]),
  );
  const failure = await client.beta.messages.create(ask("go")).catch((caught: unknown) => caught);
  expect(failure).toBeInstanceOf(Anthropic.APIError);
  expect(failure).toMatchObject({ status: 529, type: "overloaded_error", apiMessage: "Overloaded" });
  if (!(failure instanceof Anthropic.APIError)) return;
  expect(failure.requestID).toMatch(/^req_/);
  expect(failure.headers?.get("retry-after")).toBe("3");
});

test("a stop sequence and every other end have their reason", async () => {
  const ends = [
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "refusal",
    "pause_turn",
    "model_context_window_exceeded",
  ] as const;
  const client = await open(script(ends.map((end) => says("so far", end))));
  for (const end of ends) {
    const reply = await client.beta.messages.create(ask("go", { stop_sequences: ["STOP"] }));
    expect(reply.stop_reason).toBe(end);
    expect(reply.stop_sequence).toBe(end === "stop_sequence" ? "STOP" : null);
  }
});

test("a gate holds a stream where it is told, and a client that leaves is noticed", async () => {
  const gate = hold();
  const client = await open(script([held(gate, says("one two three four five six"), 4), says("after")]));
  const stream = client.beta.messages.stream(ask("go"));
  const texts: string[] = [];
  stream.on("text", (text) => texts.push(text));
  await gate.reached;
  await expect.poll(() => texts.length).toBe(1);
  stream.abort();
  await expect(stream.done()).rejects.toThrow(Anthropic.APIUserAbortError);
  await expect.poll(() => api?.requests[0]?.isCut).toBe(true);
  const next = await client.beta.messages.create(ask("again"));
  expect(next.content).toMatchObject([{ text: "after" }]);
});

test("a gate that opens lets the rest through", async () => {
  const gate = hold();
  const client = await open(script([held(gate, says("one two three four five six"), 4)]));
  const message = client.beta.messages.stream(ask("go")).finalMessage();
  await gate.reached;
  expect(api?.requests[0]).not.toHaveProperty("isCut");
  gate.open();
  expect(await message).toMatchObject({ content: [{ text: "one two three four five six" }] });
});

test("fifty conversations at once each follow their own script", async () => {
  const scriptOf = (text: string) => [calls("press_key", { of: text }), says(`done: ${text}`)];
  const client = await open(byConversation((text) => scriptOf(text)));
  const runs = Array.from({ length: 50 }, async (_, index) => {
    const runner = client.beta.messages.toolRunner({
      ...ask(`conversation ${index}`),
      thread: false,
      stream: true,
      tools: [
        { ...tool("press_key"), parse: (input: unknown) => input, run: (input) => JSON.stringify(input) },
      ],
    });
    return (await runner.runUntilDone()).content;
  });
  const ends = await Promise.all(runs);
  expect(ends.map((content) => content[0])).toMatchObject(
    Array.from({ length: 50 }, (_, index) => ({ text: `done: conversation ${index}` })),
  );
  expect(api?.requests).toHaveLength(100);
});

test("a script that is over says so, and nobody retries it", async () => {
  await open(script([]));
  const patient = clientOf(api?.url ?? "", { maxRetries: 2 });
  await expect(patient.beta.messages.create(ask("what now"))).rejects.toThrow(/no more replies.*what now/);
  expect(api?.requests).toHaveLength(1);
});

test("a script that throws is a failure of the server, and nobody retries it", async () => {
  await open(() => {
    throw new Error("a bug of the test");
  });
  const patient = clientOf(api?.url ?? "", { maxRetries: 2 });
  await expect(patient.beta.messages.create(ask("go"))).rejects.toThrow(/a bug of the test/);
  expect(api?.requests).toHaveLength(1);
});
