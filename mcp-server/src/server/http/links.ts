import type { Socket } from "node:net";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Backend } from "../mcp/backend.ts";
import {
  type Asked,
  askedSchema,
  type LinkFailure,
  type LinkMessage,
  maxLineLength,
  readLines,
} from "./linkMessages.ts";

/** The bridge's client name, and the project that it was started in. */
type Bridge = { client: string; project: string | undefined };

/** The daemon's ends of the bridges' connections. */
export type Links = {
  /** Serves a bridge for as long as it lives; `head` is what came with its upgrade. */
  serve(socket: Socket, head: Buffer, bridge: Bridge): void;
  count(): number;
  /** Sends every bridge the reason, and ends its connection. */
  leave(reason: string): void;
};

export function createLinks(deps: {
  /** Runs the calls of a client. */
  backendOf(client: string, project: string | undefined): Backend;
  onOpen(): void;
  onAsked(): void;
  onEnd(client: string): void;
}): Links {
  const living = new Set<(reason: string) => void>();

  function serve(socket: Socket, head: Buffer, { client, project }: Bridge): void {
    const running = new Map<number, AbortController>();
    const send = (message: LinkMessage) => {
      if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
    };
    const leave = (reason: string) => {
      // The bridge keeps its leases: the next daemon continues with them.
      living.delete(leave);
      send({ leaving: reason });
      socket.destroySoon();
    };
    living.add(leave);
    deps.onOpen();
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("end", () => socket.destroySoon());
    socket.once("close", () => {
      for (const control of running.values()) control.abort();
      if (living.delete(leave)) deps.onEnd(client);
    });
    const backend = deps.backendOf(client, project);
    readLines(
      socket,
      head,
      (line) => {
        const asked = readAsked(line);
        if (!asked) return void socket.destroy();
        deps.onAsked();
        if ("cancel" in asked) return running.get(asked.cancel)?.abort();
        const control = new AbortController();
        running.set(asked.id, control);
        void answer(backend, asked, control.signal, send).finally(() => running.delete(asked.id));
      },
      maxLineLength,
    );
  }

  return {
    serve,
    count: () => living.size,
    leave: (reason) => {
      for (const leave of [...living]) leave(reason);
    },
  };
}

function readAsked(line: string): Asked | undefined {
  try {
    return askedSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

async function answer(
  backend: Backend,
  asked: Exclude<Asked, { cancel: number }>,
  signal: AbortSignal,
  send: (message: LinkMessage) => void,
): Promise<void> {
  const { id } = asked;
  try {
    if ("read" in asked) return send({ id, read: await backend.readResource(asked.read, signal) });
    if ("complete" in asked) return send({ id, completed: [...(await backend.complete(asked.complete))] });
    if ("listed" in asked) return send({ id, listed: [...(await backend.listed())] });
    if ("skills" in asked) return send({ id, skills: [...(await backend.skills())] });
    if ("watch" in asked) return await watch(backend, { ...asked, signal }, send);
    const { call } = asked;
    const called = await backend.callTool({
      name: call.name,
      arguments: call.arguments,
      idempotency_key: call.idempotency_key,
      traceparent: call.traceparent,
      elicitation: call.elicitation,
      views: call.views,
      host: undefined,
      http: undefined,
      session: undefined,
      signal,
      progress: call.progress
        ? (done, total, message) => send({ id, progress: { done, total, message } })
        : undefined,
    });
    send({ id, called });
  } catch (error) {
    send({ id, error: failureOf(error) });
  }
}

/** Lasts until the bridge cancels it or goes, so that its id stays taken. */
async function watch(
  backend: Backend,
  { id, watch: uri, signal }: { id: number; watch: string; signal: AbortSignal },
  send: (message: LinkMessage) => void,
): Promise<void> {
  const stop = await backend.watch(uri, () => send({ id, watched: "changed" }));
  send({ id, watched: "from now" });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  stop();
}

function failureOf(error: unknown): LinkFailure {
  if (error instanceof ProtocolError) return { code: error.code, message: error.message, data: error.data };
  return { code: ProtocolErrorCode.InternalError, message: "The daemon could not answer; its log says why." };
}
