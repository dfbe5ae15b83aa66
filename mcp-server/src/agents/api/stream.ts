import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { TaskEvent } from "@labwright/agent-client";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import { type ApiDeps, maxRequestBytes } from "./deps.ts";
import { parsed, reportedError } from "./errors.ts";
import { type Gate, isOver, type Principal } from "./gate.ts";
import { taskSchema } from "./tasks.ts";

/** Events that a client does not read are dropped beyond this; its result is not. */
const mostUnsent = 4 * 1_048_576;

const messageSchema = z.strictObject({
  id: z.string().min(1).max(100),
  type: z.literal("task_request"),
  payload: taskSchema.extend({ stream_responses: z.boolean().default(false) }),
});

export type TaskStream = {
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
};

/**
 * The plain WebSocket `/api/v1/agent/stream` with the messages of seed 002, each `{id, type, payload}`: `task_request` in; `progress_update`,
 * `stream_token`, `result` and `error` out, with the id of their request. The token is the bearer of the upgrade.
 */
export function createTaskStream(deps: Pick<ApiDeps, "tasks" | "clock" | "fault">, gate: Gate): TaskStream {
  const server = new WebSocketServer({ noServer: true, maxPayload: maxRequestBytes });
  return {
    upgrade(incoming, socket, head) {
      const [, token] = /^bearer +(\S+)$/i.exec(incoming.headers.authorization ?? "") ?? [];
      gate.admit(token, incoming.socket.remoteAddress).then(
        (principal) =>
          server.handleUpgrade(incoming, socket, head, (opened) => serve(opened, principal, deps, gate)),
        (error: unknown) => {
          const { http_status, ...body } = reportedError(error, deps);
          const text = JSON.stringify({ success: false, error: { ...body, http_status } });
          socket.end(
            `HTTP/1.1 ${http_status} Refused\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${text}`,
          );
        },
      );
    },
    close() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

function serve(
  socket: WebSocket,
  principal: Principal,
  deps: Pick<ApiDeps, "tasks" | "clock" | "fault">,
  { limit }: Gate,
): void {
  const send = (id: string | undefined, type: string, payload: unknown) =>
    socket.send(JSON.stringify({ id, type, payload }), () => undefined);
  socket.on("error", () => socket.terminate());
  socket.on("message", (data) => {
    answer(String(data)).catch((error: unknown) =>
      send(idIn(String(data)), "error", reportedError(error, deps)),
    );
  });

  async function answer(text: string): Promise<void> {
    if (isOver(principal, deps.clock)) return socket.close(4401, "The credentials have expired.");
    await limit(principal.owner);
    const { id, payload } = parsed(messageSchema, jsonOf(text), "message");
    const { stream_responses: stream, ...order } = payload;
    const emit = (event: TaskEvent) => {
      if (socket.bufferedAmount < mostUnsent) forward(id, event);
    };
    const { ended } = await deps.tasks.start(principal.owner, { ...order, stream }, emit);
    send(id, "result", await ended);
  }

  function forward(id: string, event: TaskEvent): void {
    const { type, ...payload } = event;
    if (type === "token") send(id, "stream_token", payload);
    else if (type === "progress") send(id, "progress_update", payload);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const idIn = (text: string) => z.looseObject({ id: z.string().max(100) }).safeParse(jsonOf(text)).data?.id;
