import type { Socket } from "node:net";
import type { CallToolResult, ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { CatalogueSkill } from "../../registry/catalogue.ts";

/**
 * The messages between bridge and daemon of one build: lines of JSON, both ways, on one connection that is an HTTP upgrade
 * of `/attach`. It lives as long as both do, so either side learns at once from the kernel when the other is gone.
 */
export const linkProtocol = "labwright-link";

/** The longest line to the daemon, in UTF-16 units; the bridge refuses a longer call before it is sent. */
export const maxLineLength = 8 * 1024 * 1024;

const callSchema = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  idempotency_key: z.string().optional(),
  traceparent: z.string().optional(),
  elicitation: z.boolean(),
  views: z.boolean(),
  /** Whether the host wants to hear how far it is. */
  progress: z.boolean(),
});
export type LinkCall = z.output<typeof callSchema>;

const completionSchema = z.object({
  template: z.string(),
  variable: z.string(),
  typed: z.string(),
  given: z.record(z.string(), z.string()),
});

/** From the bridge. `id` is the bridge's own, once for each request. */
export const askedSchema = z.union([
  z.strictObject({ id: z.int(), call: callSchema }),
  z.strictObject({ id: z.int(), read: z.string() }),
  z.strictObject({ id: z.int(), complete: completionSchema }),
  /** Goes on until it is cancelled. */
  z.strictObject({ id: z.int(), watch: z.string() }),
  z.strictObject({ id: z.int(), listed: z.literal(true) }),
  z.strictObject({ id: z.int(), skills: z.literal(true) }),
  z.strictObject({ cancel: z.int() }),
]);
export type Asked = z.output<typeof askedSchema>;

const failureSchema = z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() });
/** A JSON-RPC error. */
export type LinkFailure = z.output<typeof failureSchema>;

/** From the daemon. Results are what its own MCP server would send; `leaving` comes before a wanted end. */
export const linkMessageSchema = z.union([
  z.strictObject({ id: z.int(), called: z.custom<CallToolResult>() }),
  z.strictObject({ id: z.int(), read: z.custom<ReadResourceResult>() }),
  z.strictObject({ id: z.int(), completed: z.array(z.string()) }),
  /** First that it is watched, then that it changed, each time. */
  z.strictObject({ id: z.int(), watched: z.enum(["from now", "changed"]) }),
  z.strictObject({ id: z.int(), listed: z.custom<Resource[]>() }),
  z.strictObject({ id: z.int(), skills: z.custom<CatalogueSkill[]>() }),
  z.strictObject({ id: z.int(), error: failureSchema }),
  z.strictObject({
    id: z.int(),
    progress: z.object({ done: z.number(), total: z.number().optional(), message: z.string().optional() }),
  }),
  z.strictObject({ leaving: z.string() }),
]);
export type LinkMessage = z.output<typeof linkMessageSchema>;

/** Calls `onLine` with each whole line. One over `maxLength` ends the connection: the sender is not one of our bridges. */
export function readLines(
  socket: Socket,
  head: Buffer,
  onLine: (line: string) => void,
  maxLength = Number.POSITIVE_INFINITY,
): void {
  const decoder = new TextDecoder();
  let held = "";
  const take = (part: Buffer) => {
    for (const [at, piece] of decoder.decode(part, { stream: true }).split("\n").entries()) {
      if (at > 0) {
        onLine(held);
        held = "";
      }
      if (socket.destroyed) return;
      held += piece;
      if (held.length > maxLength) return void socket.destroy();
    }
  };
  socket.on("data", take);
  if (head.length > 0) take(head);
}
