import Anthropic from "@anthropic-ai/sdk";
import { afterEach, expect, test } from "vitest";
import { type Aimock, startAimock } from "../../fixtures/aimock.ts";
import { ask, clientOf, tool } from "./client.ts";

/** The flows of the stand-in once more, on a server that is not ours: what both agree on is not only our reading. */
let mock: Aimock | undefined;
afterEach(async () => {
  await mock?.close();
  mock = undefined;
});

async function open(...fixtures: Parameters<typeof startAimock>[0]): Promise<Anthropic> {
  mock = await startAimock(fixtures);
  return clientOf(mock.url, { maxRetries: 2 });
}

test("a text is streamed", async () => {
  const client = await open({
    match: { userMessage: "List the devices" },
    response: { content: "There are two." },
  });
  const texts: string[] = [];
  const stream = client.beta.messages.stream(ask("List the devices"));
  stream.on("text", (text) => texts.push(text));
  expect((await stream.finalMessage()).stop_reason).toBe("end_turn");
  expect(texts.join("")).toBe("There are two.");
});

test("the runner runs the tool that is called, and sends its result", async () => {
  const client = await open(
    { match: { userMessage: "Press HOME", hasToolResult: true }, response: { content: "Done." } },
    {
      match: { userMessage: "Press HOME", hasToolResult: false },
      response: { toolCalls: [{ name: "press_key", arguments: '{"key":"HOME"}' }] },
    },
  );
  const inputs: unknown[] = [];
  const runner = client.beta.messages.toolRunner({
    ...ask("Press HOME"),
    thread: false,
    stream: true,
    tools: [
      {
        ...tool("press_key"),
        parse: (input: unknown) => input,
        run: (input: unknown) => {
          inputs.push(input);
          return "pressed";
        },
      },
    ],
  });
  const last = await runner.runUntilDone();
  expect(inputs).toEqual([{ key: "HOME" }]);
  expect(last.content).toMatchObject([{ type: "text", text: "Done." }]);
});

test("a rate limit is waited for and retried", async () => {
  const client = await open(
    {
      match: { userMessage: "go", sequenceIndex: 0 },
      response: { error: { message: "slow down", type: "rate_limit_error" }, status: 429, retryAfter: 0.01 },
    },
    { match: { userMessage: "go" }, response: { content: "now" } },
  );
  const message = await client.beta.messages.stream(ask("go")).finalMessage();
  expect(message.content).toMatchObject([{ text: "now" }]);
  expect(mock?.asked().map(({ status }) => status)).toEqual([429, 200]);
});

test("a connection that breaks in the middle of a call ends without a message", async () => {
  const client = await open({
    match: { userMessage: "go" },
    response: { toolCalls: [{ name: "press_key", arguments: '{"key":"A_LONG_NAME_OF_A_KEY"}' }] },
    chunkSize: 4,
    truncateAfterChunks: 4,
  });
  const stream = client.beta.messages.stream({ ...ask("go"), tools: [tool("press_key")] });
  await expect(stream.finalMessage()).rejects.toThrow(Anthropic.AnthropicError);
});
