import { AgentError } from "@labwright/agent-client";
import { z } from "zod";
import type { ErrorBody } from "../../api/errors.ts";
import type { AgentSocket } from "./agentSocket.ts";
import { isOver, type Principal } from "./credentials.ts";
import type { ApiDeps } from "./deps.ts";
import { invalidInput } from "./errors.ts";
import type { Gate } from "./gate.ts";
import { createJoined } from "./joined.ts";
import { messageSchema } from "./schemas.ts";

export type SocketDeps = Pick<ApiDeps, "conversations" | "clock"> & {
  limit: Gate["limit"];
  errorOf(error: unknown): ErrorBody;
};

const id = z.string().min(1).max(100);
const joinSchema = z.strictObject({ session_id: id, after: z.int().min(0).default(0) });
const sendSchema = messageSchema.extend({ session_id: id.optional() });
const interruptSchema = z.strictObject({ session_id: id.optional() });
const approveSchema = z.strictObject({
  session_id: id.optional(),
  approval_id: id,
  approved: z.boolean(),
});

/** Serves one connection, until it ends. What it asks is answered in the acknowledgement, or as `error` without one. */
export function serveSocket(socket: AgentSocket, deps: SocketDeps): void {
  const { principal } = socket.data;
  if (!principal) {
    socket.disconnect(true);
    return;
  }
  const { owner } = principal;
  const { conversations } = deps;
  const joined = createJoined(socket, principal, deps);
  const handle = <T>(name: string, schema: z.ZodType<T>, run: Run<T>) => {
    socket.on(name, (...args: unknown[]) => {
      answer(socket, args.at(-1), ask(name, schema, args[0], principal, deps).then(run), deps);
    });
  };

  handle("join_session", joinSchema, async ({ session_id, after }) => {
    await joined.join(session_id, after);
    return { session_id };
  });
  handle("send_message", sendSchema, async ({ session_id, text, skill }) => {
    const message = { text, ...(skill !== undefined && { skill }) };
    if (session_id !== undefined) {
      await joined.hear(session_id);
      return { session_id, ...(await conversations.send(session_id, owner, message)) };
    }
    const created = await conversations.create({ owner });
    try {
      await joined.hear(created.id);
      return { session_id: created.id, ...(await conversations.send(created.id, owner, message)) };
    } catch (error) {
      // Nobody knows of a session that came into being for a message that was refused.
      await joined.leave(created.id);
      await conversations.remove(created.id, owner).catch(() => {});
      throw error;
    }
  });
  handle("interrupt", interruptSchema, async ({ session_id = joined.latest() }) => {
    if (session_id === undefined) throw noSession();
    return { session_id, interrupted: await conversations.interrupt(session_id, owner) };
  });
  handle("approve", approveSchema, async ({ approval_id, approved, session_id }) => {
    const session = session_id ?? joined.sessionOf(approval_id);
    if (session === undefined) throw noSession();
    await conversations.decide(session, owner, approval_id, approved);
    return { session_id: session, approval_id, approved };
  });
}

type Run<T> = (given: T) => Promise<Record<string, unknown>>;

/** What a client gave with an event, once it may ask at all. */
async function ask<T>(
  name: string,
  schema: z.ZodType<T>,
  given: unknown,
  principal: Principal,
  deps: SocketDeps,
): Promise<T> {
  if (isOver(principal, deps.clock)) throw expired();
  await deps.limit(`owner:${principal.owner}`);
  const { data, error } = schema.safeParse(isAck(given) ? {} : (given ?? {}));
  if (error) throw invalidInput(error, name);
  return data;
}

type Ack = (answer: Record<string, unknown>) => void;
const isAck = (value: unknown): value is Ack => typeof value === "function";

function answer(
  socket: AgentSocket,
  last: unknown,
  asked: Promise<Record<string, unknown>>,
  deps: SocketDeps,
): void {
  const ack = isAck(last) ? last : undefined;
  asked.then(
    (result) => ack?.({ ok: true, ...result }),
    (failure: unknown) => {
      const error = deps.errorOf(failure);
      if (ack) ack({ ok: false, error });
      else socket.emit("error", error);
      if (error.code === "UNAUTHORIZED") socket.disconnect(true);
    },
  );
}

const expired = (): AgentError =>
  new AgentError(
    "UNAUTHORIZED",
    "The credentials of this connection have expired.",
    "Connect with new ones.",
  );

const noSession = (): AgentError =>
  new AgentError(
    "INVALID_INPUT",
    "It is not clear which session is meant.",
    "Name it as `session_id`, or join it first.",
  );
