import { createServer, type IncomingMessage } from "node:http";
import { z } from "zod";

const requestSchema = z.looseObject({
  model: z.string(),
  tools: z.array(z.looseObject({ name: z.string() })).default([]),
  messages: z.array(z.looseObject({ content: z.unknown() })),
});
export type MessagesRequest = z.output<typeof requestSchema>;

/**
 * A stand-in for the Messages API on loopback: it has the model call one tool, and then say what came back. `requests` are
 * those that offered tools.
 */
export async function startMessages(call: { tool: string; input: object }): Promise<{
  url: string;
  requests: MessagesRequest[];
  end(): void;
}> {
  const requests: MessagesRequest[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url ?? "";
    if (request.method !== "POST" || !path.startsWith("/v1/messages")) {
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
      return;
    }
    const asked = requestSchema.parse(JSON.parse(await bodyOf(request)));
    if (asked.tools.length > 0) requests.push(asked);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events(asked, call))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, requests, end: () => server.close() };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString();
}

/** The result may be anywhere: hosts append messages of their own behind it. */
const hasResult = ({ messages }: MessagesRequest): boolean =>
  messages.some(({ content }) => Array.isArray(content) && content.some(isToolResult));
const isToolResult = (block: unknown): boolean =>
  z.looseObject({ type: z.literal("tool_result") }).safeParse(block).success;

function* events(asked: MessagesRequest, call: { tool: string; input: object }) {
  const offersIt = asked.tools.some(({ name }) => name === call.tool);
  const calls = offersIt && !hasResult(asked);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: asked.model, content: [], usage };
  yield { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } };
  const block = calls
    ? { type: "tool_use", id: "toolu_1", name: call.tool, input: {} }
    : { type: "text", text: "" };
  yield { type: "content_block_start", index: 0, content_block: block };
  const delta = calls
    ? { type: "input_json_delta", partial_json: JSON.stringify(call.input) }
    : { type: "text_delta", text: "Done." };
  yield { type: "content_block_delta", index: 0, delta };
  yield { type: "content_block_stop", index: 0 };
  const reason = { stop_reason: calls ? "tool_use" : "end_turn", stop_sequence: null };
  yield { type: "message_delta", delta: reason, usage };
  yield { type: "message_stop" };
}
