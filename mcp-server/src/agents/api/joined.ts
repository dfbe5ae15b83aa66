import { AgentError, type AgentEvent } from "@labwright/agent-client";
import type { AgentSocket } from "./agentSocket.ts";
import { isOver, type Principal } from "./credentials.ts";
import type { ApiDeps } from "./deps.ts";
import { follow } from "./follow.ts";

/** A client with more unsent packets than this is too slow: it is let go, and can join again with `after`. */
const maxUnsent = 5_000;
/** How many sessions one connection may hear. */
const maxJoined = 100;

/** The sessions that a connection hears, each once. */
export type Joined = {
  /** Tells what was told after `after`, then all that comes. Again: from there anew. */
  join(session_id: string, after: number): Promise<void>;
  /** Tells all that comes, unless it is told already. */
  hear(session_id: string): Promise<void>;
  leave(session_id: string): Promise<void>;
  /** The one that was joined last. */
  latest(): string | undefined;
  /** Whose an approval is that was told here. */
  sessionOf(approval_id: string): string | undefined;
};

type Stop = () => void;
const nothing: Stop = () => {};

export function createJoined(
  socket: AgentSocket,
  principal: Principal,
  { conversations, clock }: Pick<ApiDeps, "conversations" | "clock">,
): Joined {
  const { owner } = principal;
  const drained = watchUnsent(socket);
  const stops = new Map<string, Promise<Stop>>();
  const approvals = new Map<string, string>();
  let latest: string | undefined;

  const tell = (event: AgentEvent) => {
    if (isOver(principal, clock)) {
      socket.disconnect(true);
      return;
    }
    if (event.type === "approval_required") approvals.set(event.approval_id, event.session_id);
    if (event.type === "session_ended") forget(approvals, event.session_id);
    socket.emit("agent_event", event);
  };
  // One after the other for each session: two that began together would both be told.
  const start = async (id: string, after: number | undefined) => {
    if (!socket.connected) return;
    if (stops.size >= maxJoined && !stops.has(id)) throw tooMany();
    const earlier = stops.get(id) ?? Promise.resolve(nothing);
    const starting = earlier.then((stop) => {
      stop();
      return follow(conversations, { id, owner, after }, tell, drained);
    });
    const slot = starting.catch(() => nothing);
    stops.set(id, slot);
    try {
      await starting;
      latest = id;
    } catch (error) {
      if (stops.get(id) === slot) stops.delete(id);
      throw error;
    }
  };
  const leave = async (id: string) => {
    const stop = await stops.get(id);
    stops.delete(id);
    stop?.();
  };
  socket.once("disconnect", () => {
    for (const slot of stops.values()) void slot.then((stop) => stop());
  });
  return {
    join: start,
    async hear(id) {
      await stops.get(id);
      if (!stops.has(id)) await start(id, undefined);
      latest = id;
    },
    leave,
    latest: () => latest,
    sessionOf: (approval_id) => approvals.get(approval_id),
  };
}

function forget(approvals: Map<string, string>, session_id: string): void {
  for (const [approval_id, session] of approvals) if (session === session_id) approvals.delete(approval_id);
}

const tooMany = (): AgentError =>
  new AgentError(
    "INVALID_INPUT",
    `One connection hears at most ${maxJoined} sessions.`,
    "Open another connection for more.",
  );

/** Ends a connection that does not take what it is sent. Gives the wait until it took all: false when it ended. */
function watchUnsent(socket: AgentSocket): () => Promise<boolean> {
  const { conn } = socket;
  let unsent = 0;
  conn.on("packetCreate", () => {
    unsent += 1;
    if (unsent > maxUnsent) conn.close(true);
  });
  conn.on("flush", () => {
    unsent = 0;
  });
  return async () => {
    if (unsent > 0 && socket.connected) {
      await new Promise<void>((resolve) => {
        const done = () => {
          conn.off("drain", done);
          conn.off("close", done);
          resolve();
        };
        conn.on("drain", done);
        conn.on("close", done);
      });
    }
    return socket.connected;
  };
}
