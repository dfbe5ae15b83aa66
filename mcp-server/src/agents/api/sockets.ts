import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { AgentError } from "@labwright/agent-client";
import { Server } from "socket.io";
import { z } from "zod";
import { type ApiDeps, maxRequestBytes } from "./deps.ts";
import { parsed, reportedError } from "./errors.ts";
import { type Gate, isOver } from "./gate.ts";
import { type AgentSocket, type AgentSocketServer, createJoined } from "./joined.ts";
import { idSchema, messageSchema } from "./schemas.ts";

/** Serves requests to `/socket.io` after the checks of Host and Origin. */
export type Sockets = {
  socketRequest(incoming: IncomingMessage, outgoing: ServerResponse): void;
  socketUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** How many clients hold a connection open. */
  connections(): number;
  /** Ends every connection. */
  close(): Promise<void>;
};

/** A client that does not read its events does not read the ping behind them: 20 s later its connection ends. */
const pingIntervalMs = 5_000;

/** Socket.IO, namespace `/agent`. */
export function createSockets(deps: ApiDeps, gate: Gate): Sockets {
  const io: AgentSocketServer = new Server({
    serveClient: false,
    maxHttpBufferSize: maxRequestBytes,
    pingInterval: pingIntervalMs,
    cors: { origin: [...deps.allowedOrigins] },
  });
  io.use((_socket, next) => next(new Error("Connect to the namespace /agent.")));
  const agents = io.of("/agent");
  agents.use((socket, next) => {
    const { token } = socket.handshake.auth;
    gate.admit(typeof token === "string" ? token : undefined, socket.conn.remoteAddress).then(
      (principal) => {
        socket.data.principal = principal;
        next();
      },
      (error: unknown) => {
        const data = reportedError(error, deps);
        next(Object.assign(new Error(data.message), { data }));
      },
    );
  });
  agents.on("connection", (socket) => serveConnection(socket, deps, gate));
  // Socket.IO needs an HTTP server of Node's. This one never listens: the daemon's server passes its requests to it.
  const server = createServer();
  io.attach(server);
  const upgraded = new Set<Duplex>();
  return {
    socketRequest: (incoming, outgoing) => void server.emit("request", incoming, outgoing),
    socketUpgrade(incoming, socket, head) {
      upgraded.add(socket);
      socket.once("close", () => upgraded.delete(socket));
      server.emit("upgrade", incoming, socket, head);
    },
    connections: () => io.engine.clientsCount,
    async close() {
      await io.close();
      // A client that reads nothing does not answer the closing handshake either.
      for (const socket of upgraded) socket.destroy();
    },
  };
}

const sessionSchema = z.strictObject({ session_id: idSchema });
const joinSchema = sessionSchema.extend({ after: z.int().min(0).default(0) });
const sendSchema = messageSchema.extend({ session_id: idSchema.optional() });
const approveSchema = sessionSchema.extend({ approval_id: idSchema, approved: z.boolean() });

/** Serves one connection until it ends. What it asks is answered in the acknowledgement, or as `error` without one. */
function serveConnection(socket: AgentSocket, deps: ApiDeps, { limit }: Gate): void {
  const { conversations, clock } = deps;
  const { principal } = socket.data;
  const { owner } = principal;
  const { join, leave, hear } = createJoined(socket, deps);
  const handle = <T>(name: string, schema: z.ZodType<T>, run: (given: T) => Promise<object>) => {
    const answer = async (given: unknown) => {
      if (isOver(principal, clock))
        throw new AgentError("UNAUTHORIZED", "The credentials have expired.", "Connect with new ones.");
      await limit(owner);
      return run(parsed(schema, given ?? {}, name));
    };
    socket.on(name, (...args: unknown[]) => {
      const ack = args.find(isAck);
      answer(isAck(args[0]) ? {} : args[0]).then(
        (result) => ack?.({ ok: true, ...result }),
        (failure: unknown) => {
          const error = reportedError(failure, deps);
          if (ack) ack({ ok: false, error });
          else socket.emit("error", error);
          if (error.code === "UNAUTHORIZED") socket.disconnect(true);
        },
      );
    });
  };

  handle("join_session", joinSchema, async ({ session_id, after }) => {
    await join(session_id, after);
    return { session_id };
  });
  handle("leave_session", sessionSchema, async ({ session_id }) => {
    leave(session_id);
    return { session_id };
  });
  handle("send_message", sendSchema, async ({ session_id, ...message }) => {
    const id = session_id ?? (await conversations.create({ owner })).id;
    try {
      await hear(id);
      return { session_id: id, ...(await conversations.send(id, owner, message)) };
    } catch (error) {
      // No client knows of a session that was made for a refused message.
      if (session_id === undefined) {
        leave(id);
        await conversations.remove(id, owner).catch(() => {});
      }
      throw error;
    }
  });
  handle("interrupt", sessionSchema, async ({ session_id }) => {
    return { session_id, interrupted: await conversations.interrupt(session_id, owner) };
  });
  handle("approve", approveSchema, async ({ session_id, approval_id, approved }) => {
    await conversations.decide(session_id, owner, approval_id, approved);
    return { session_id, approval_id, approved };
  });
}

const isAck = (value: unknown): value is (answer: object) => void => typeof value === "function";
