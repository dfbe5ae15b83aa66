import Anthropic from "@anthropic-ai/sdk";
import type { BetaTool } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import {
  type MessagesApi,
  type MessagesApiOptions,
  startMessagesApi,
  testKey,
} from "../../fixtures/messagesApi/server.ts";

/** One that thinks only when it is asked to. */
export const model = "claude-opus-4-8";

/** The SDK on a stand-in, or on another endpoint. */
export const clientOf = (
  baseURL: string,
  given: { apiKey?: string; maxRetries?: number; fetch?: typeof fetch } = {},
) => new Anthropic({ baseURL, apiKey: testKey, maxRetries: 0, logLevel: "off", ...given });

export async function openStandin(
  options: MessagesApiOptions,
): Promise<{ api: MessagesApi; client: Anthropic }> {
  const api = await startMessagesApi(options);
  return { api, client: clientOf(api.url) };
}

export const tool = (name: string, description = `Does ${name}.`): BetaTool => ({
  name,
  description,
  input_schema: { type: "object", properties: { key: { type: "string" } } },
});

export const ask = (text: string, more: object = {}) => ({
  model,
  max_tokens: 1_000,
  messages: [{ role: "user" as const, content: text }],
  ...more,
});

/** The beginning of a PNG of this size, as base64. */
export function pngOf(width: number, height: number): string {
  const png = Buffer.alloc(33);
  Buffer.from("89504e470d0a1a0a", "hex").copy(png);
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png.toString("base64");
}

export const newestVersion = "2026-10-21";

/** A request as it is, without the SDK: `error` is the body of a failure. */
export async function postTo(
  api: MessagesApi,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; error: string }> {
  const response = await fetch(`${api.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": testKey, "anthropic-version": newestVersion, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const given: unknown = await response.json();
  const error = typeof given === "object" && given !== null && "error" in given ? JSON.stringify(given) : "";
  return { status: response.status, error };
}
