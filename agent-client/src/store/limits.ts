import { AgentError } from "../errors.ts";

/** The server's own limits, for a store without a server. Sizes are bytes of JSON. */
export const limits = { message: 16 * 1_048_576, event: 262_144, finding: 262_144, ttl_ms: 86_400_000 };

const conversationId = /^[\w:-]{1,100}$/;
const name = /^\P{Cc}{1,100}$/u;

export function checkConversationId(given: string): void {
  if (!conversationId.test(given)) throw invalid("id: must be 1 to 100 of A-Z a-z 0-9 _ : -");
}

/** Agents, owners, holders, roles and keys of tasks. */
export function checkNames(...given: readonly string[]): void {
  if (!given.every((one) => name.test(one)))
    throw invalid("a name must be 1 to 100 characters, no control characters");
}

export function checkTtl(ttl_ms: number): void {
  if (!Number.isInteger(ttl_ms) || ttl_ms < 1 || ttl_ms > limits.ttl_ms)
    throw invalid(`ttl_ms: must be 1 to ${limits.ttl_ms}`);
}

export function checkSize(what: string, value: object, max: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= max) return;
  throw new AgentError(
    "INPUT_TOO_LARGE",
    `${what} is ${bytes} bytes of JSON, over ${max}.`,
    "Store what is needed to go on, and a link to the rest.",
    { bytes, max_bytes: max },
  );
}

export const invalid = (message: string) =>
  new AgentError("INVALID_INPUT", message, "Give what the store takes.");
