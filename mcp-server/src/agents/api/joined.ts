import { setTimeout as sleep } from "node:timers/promises";
import type { AgentEvent, Conversations } from "@labwright/agent-client";
import type { DefaultEventsMap, Server, Socket } from "socket.io";
import type { ErrorBody } from "../../api/errors.ts";
import type { ApiDeps } from "./deps.ts";
import { isOver, type Principal } from "./gate.ts";

/** What clients send is checked by its handler. */
type ClientEvents = Record<string, (...given: unknown[]) => void>;
type ServerEvents = { agent_event: (event: AgentEvent) => void; error: (error: ErrorBody) => void };
type SocketData = { principal: Principal };
export type AgentSocket = Socket<ClientEvents, ServerEvents, DefaultEventsMap, SocketData>;
export type AgentSocketServer = Server<ClientEvents, ServerEvents, DefaultEventsMap, SocketData>;

const pageSize = 200;
/** How often a connection with unsent events is looked at. */
const drainMs = 10;

/** The sessions that a connection hears, each once. */
export function createJoined(socket: AgentSocket, { conversations, clock }: ApiDeps) {
  const { principal } = socket.data;
  const joined = new Map<string, { stop: AbortController; begun: Promise<void> }>();
  const send = (event: AgentEvent) => {
    if (isOver(principal, clock)) socket.disconnect(true);
    else socket.emit("agent_event", event);
  };
  const drained = async () => {
    while (socket.connected && !socket.conn.transport.writable) await sleep(drainMs);
  };
  /** Sends the stored events after `after`, then all that come; without `after` only the latter. A second join starts over. */
  const join = (id: string, after?: number): Promise<void> => {
    leave(id);
    const stop = new AbortController();
    if (!socket.connected) stop.abort();
    const from = { id, owner: principal.owner, after, signal: stop.signal };
    const begun = follow(conversations, from, send, drained).catch((error: unknown) => {
      stop.abort();
      if (joined.get(id)?.stop === stop) joined.delete(id);
      throw error;
    });
    joined.set(id, { stop, begun });
    return begun;
  };
  const leave = (id: string): void => {
    joined.get(id)?.stop.abort();
    joined.delete(id);
  };
  socket.once("disconnect", () => [...joined.keys()].forEach(leave));
  /** Sends all events that come, unless they were sent already. */
  const hear = (id: string): Promise<void> => joined.get(id)?.begun ?? join(id);
  return { join, leave, hear };
}

type Following = { id: string; owner: string; after?: number | undefined; signal: AbortSignal };

/**
 * Sends the events of a conversation in order, without gap or doubling, until `signal` aborts: the stored ones after
 * `after`, then the live ones; without `after` the live ones alone. Resolves when the stored ones are sent; waits for
 * `drained` between their pages, so that a client gets them only as fast as it reads. After a rejection, abort `signal`.
 */
export async function follow(
  conversations: Pick<Conversations, "events" | "subscribe">,
  { id, owner, after, signal }: Following,
  send: (event: AgentEvent) => void,
  drained: () => Promise<void>,
): Promise<void> {
  let last = after ?? 0;
  let held: AgentEvent[] | undefined = after === undefined ? undefined : [];
  const stop = await conversations.subscribe(id, owner, (event) => (held ? held.push(event) : send(event)));
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  while (held && !signal.aborted) {
    // An event sent before a page is read is on that page or on one after it: only what comes during the last one,
    // which is empty, is sent from here.
    const live: AgentEvent[] = [];
    held = live;
    const page = await conversations.events(id, owner, { after: last, limit: pageSize });
    if (signal.aborted) return;
    page.forEach(send);
    last = page.at(-1)?.seq ?? last;
    if (page.length > 0) await drained();
    else {
      held = undefined;
      live.forEach(send);
    }
  }
}
