import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { ProtocolError } from "@modelcontextprotocol/server";
import { type DaemonFile, daemonHeaders } from "../daemonFile.ts";
import {
  type Asked,
  type LinkCall,
  type LinkMessage,
  linkMessageSchema,
  linkProtocol,
  maxLineLength,
  readLines,
} from "../http/linkMessages.ts";
import { proofOf, proofPath } from "../http/proof.ts";
import type { Backend, Completion, ToolCall } from "../mcp/backend.ts";
import { BridgeError } from "./bridgeError.ts";

/** How the daemon ended: with a reason when it said so, without one when it died. */
export type Loss = { reason: string | undefined };

/** The connection broke with the daemon; whether the tool ran is not known here. */
export class DaemonLost extends Error {}

/** A living daemon that runs what it is asked; what it had not answered when it went is rejected with {@link DaemonLost}. */
export type Attached = Backend & {
  file: DaemonFile;
  lost: AbortSignal;
  loss(): Loss;
  close(): void;
};

/** The client that connects, and the project whose names it uses. */
export type Asker = { client: string; project: string | undefined };

/**
 * Connects to a daemon, once it has proved that it knows the token. Undefined if none answers there within `timeoutMs`,
 * which a daemon.json left by a dead one, or a stranger on its port, gives.
 */
export async function attach(
  file: DaemonFile,
  { client, project }: Asker,
  timeoutMs: number,
): Promise<Attached | undefined> {
  // One connection for both, so that the token reaches the program that gave the proof.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeoutMs);
  try {
    if (!(await knowsToken(file, agent, stop.signal))) return undefined;
    const opened = await upgrade(file, daemonHeaders(file, client, project), agent, stop.signal);
    return opened && new Link(file, opened.socket, opened.head);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    agent.destroy();
  }
}

/** More than any proof is long: a stranger's answer is not read to its end. */
const maxProofBytes = 1_000;

async function knowsToken(file: DaemonFile, agent: Agent, signal: AbortSignal): Promise<boolean> {
  const challenge = randomBytes(32).toString("hex");
  const free = once(agent, "free", { signal });
  free.catch(() => {});
  const path = `${proofPath}?challenge=${challenge}`;
  const asked = request({ host: "127.0.0.1", port: file.port, path, agent, signal });
  asked.end();
  const response: IncomingMessage = (await once(asked, "response", { signal }))[0];
  const said = await textOf(response);
  if (said !== JSON.stringify({ proof: proofOf(file.token, challenge, file.port) })) return false;
  await free;
  return true;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let said = "";
  for await (const part of response.setEncoding("utf8")) {
    said += part;
    if (said.length > maxProofBytes) break;
  }
  return said;
}

type Opened = { socket: Socket; head: Buffer };

function upgrade(
  file: DaemonFile,
  own: Record<string, string>,
  agent: Agent,
  signal: AbortSignal,
): Promise<Opened | undefined> {
  return new Promise((resolve) => {
    const headers = { ...own, connection: "Upgrade", upgrade: linkProtocol };
    const asked = request({ host: "127.0.0.1", port: file.port, path: "/attach", headers, agent, signal });
    asked.once("upgrade", (_, socket, head) => resolve({ socket, head }));
    asked.once("response", (response) => {
      response.destroy();
      resolve(undefined);
    });
    asked.on("error", () => resolve(undefined));
    asked.once("close", () => resolve(undefined));
    if (asked.reusedSocket) asked.end();
    else asked.destroy();
  });
}

const unending = () => new AbortController().signal;

type Answer = Exclude<LinkMessage, { leaving: string }>;
type Waiting = { hear(answer: Answer): void; fail(error: unknown): void };

class Link implements Attached {
  readonly file: DaemonFile;
  private readonly socket: Socket;
  private readonly ended = new AbortController();
  private readonly waiting = new Map<number, Waiting>();
  private reason: string | undefined;
  private lastId = 0;

  constructor(file: DaemonFile, socket: Socket, head: Buffer) {
    this.file = file;
    this.socket = socket;
    socket.setNoDelay(true);
    // A connection reset by a killed daemon is an end like any other.
    socket.on("error", () => {});
    socket.on("end", () => socket.destroySoon());
    socket.once("close", () => this.end());
    readLines(socket, head, (line) => this.hear(linkMessageSchema.parse(JSON.parse(line))));
  }

  get lost(): AbortSignal {
    return this.ended.signal;
  }

  loss(): Loss {
    return { reason: this.reason };
  }

  close(): void {
    this.socket.destroySoon();
  }

  async callTool({ signal, progress, ...call }: ToolCall) {
    const sent: LinkCall = {
      name: call.name,
      arguments: call.arguments,
      idempotency_key: call.idempotency_key,
      traceparent: call.traceparent,
      elicitation: call.elicitation,
      views: call.views,
      progress: progress !== undefined,
    };
    return this.ask(
      (id) => ({ id, call: sent }),
      signal,
      (answer) => {
        if ("progress" in answer) {
          const { done, total, message } = answer.progress;
          progress?.(done, total, message);
        }
        return "called" in answer ? answer.called : undefined;
      },
    );
  }

  async readResource(uri: string, signal: AbortSignal) {
    return this.ask(
      (id) => ({ id, read: uri }),
      signal,
      (answer) => ("read" in answer ? answer.read : undefined),
    );
  }

  complete(asked: Completion) {
    return this.ask(
      (id) => ({ id, complete: { ...asked, given: { ...asked.given } } }),
      unending(),
      (answer) => ("completed" in answer ? answer.completed : undefined),
    );
  }

  listed() {
    return this.ask(
      (id) => ({ id, listed: true as const }),
      unending(),
      (answer) => ("listed" in answer ? answer.listed : undefined),
    );
  }

  skills() {
    return this.ask(
      (id) => ({ id, skills: true as const }),
      unending(),
      (answer) => ("skills" in answer ? answer.skills : undefined),
    );
  }

  watch(uri: string, changed: () => void): Promise<() => void> {
    const stop = new AbortController();
    return new Promise((resolve, reject) => {
      // Never answered for good: its rejection is that it was stopped, or that it could not begin.
      this.ask<never>(
        (id) => ({ id, watch: uri }),
        stop.signal,
        (answer) => {
          if (!("watched" in answer)) return undefined;
          if (answer.watched === "changed") changed();
          else resolve(() => stop.abort());
          return undefined;
        },
      ).catch(reject);
    });
  }

  private ask<T>(
    asked: (id: number) => Asked,
    signal: AbortSignal,
    resultOf: (answer: Answer) => T | undefined,
  ): Promise<T> {
    const id = ++this.lastId;
    const line = JSON.stringify(asked(id));
    if (line.length > maxLineLength)
      throw new BridgeError("INPUT_TOO_LARGE", "The arguments are too large.", "Send less at a time.");
    if (this.lost.aborted) throw new DaemonLost("the daemon has ended");
    signal.throwIfAborted();
    return new Promise<T>((resolve, reject) => {
      const settled = () => {
        this.waiting.delete(id);
        signal.removeEventListener("abort", cancel);
      };
      const fail = (error: unknown) => {
        settled();
        reject(error);
      };
      const cancel = () => {
        fail(signal.reason);
        this.socket.write(`${JSON.stringify({ cancel: id } satisfies Asked)}\n`);
      };
      const hear = (answer: Answer) => {
        if ("error" in answer) {
          const { code, message, data } = answer.error;
          return fail(new ProtocolError(code, message, data));
        }
        const result = resultOf(answer);
        if (result === undefined) return;
        settled();
        resolve(result);
      };
      this.waiting.set(id, { hear, fail });
      signal.addEventListener("abort", cancel, { once: true });
      this.socket.write(`${line}\n`);
    });
  }

  private hear(message: LinkMessage): void {
    if ("leaving" in message) this.reason = message.leaving;
    else this.waiting.get(message.id)?.hear(message);
  }

  private end(): void {
    this.ended.abort();
    for (const { fail } of [...this.waiting.values()])
      fail(new DaemonLost("the daemon ended during the call"));
  }
}
