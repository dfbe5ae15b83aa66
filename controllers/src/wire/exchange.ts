import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { DeviceError } from "../errors.ts";
import type { Moment } from "../ports.ts";
import { inTurn, untilAborted, withDeadline } from "../waiting/deadlines.ts";
import { lost, offline, type Place, silent } from "./failures.ts";

/** A connection that carries messages. `send` returns when the message left. */
export type Transport = {
  send(message: string): Promise<Moment>;
  onMessage(listener: (message: string) => void): void;
  onClose(listener: () => void): void;
  isOpen(): boolean;
  close(): void | Promise<void>;
};

/** An answer of a remote comes within this time. */
export const answerMs = 5_000;
const mostKept = 20;
const mostBytes = 1_000_000;

/** Looks at a message: what it says where it is the one that is waited for, else undefined. May throw a refusal. */
type Find<T> = (message: string) => T | undefined;

/** Questions and their answers on one connection, one after another. */
export class Exchange {
  readonly #transport: Transport;
  readonly #place: Place;
  readonly #inTurn = inTurn();
  /** Came while no one waited. */
  #early: string[] = [];
  readonly #keep = (message: string) => {
    this.#early = [...this.#early, message].slice(-mostKept);
  };
  #take = this.#keep;
  #lose = () => {};

  constructor(transport: Transport, place: Place) {
    this.#transport = transport;
    this.#place = place;
    transport.onMessage((message) => this.#take(message));
    transport.onClose(() => this.#lose());
  }

  isOpen(): boolean {
    return this.#transport.isOpen();
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  onClose(listener: () => void): void {
    this.#transport.onClose(listener);
  }

  /**
   * Sends a message and waits for the first one that `find` accepts. Throws DEVICE_OFFLINE, TRANSPORT_LOST, and COMMAND_TIMEOUT after
   * `ms`, which also ends the connection, so that a late answer is not taken for the next one.
   */
  ask<T>(
    message: string,
    find: Find<T>,
    signal: AbortSignal,
    ms = answerMs,
  ): Promise<{ answer: T; sentAt: Moment }> {
    const send = () => {
      this.#early = [];
      return this.#transport.send(message);
    };
    return this.#next(send, find, ms, signal);
  }

  /** Waits for a message that comes by itself, or came already. Throws what {@link ask} throws. */
  async expect<T>(find: Find<T>, ms: number, signal: AbortSignal): Promise<T> {
    const early = async () => {
      for (const message of this.#early.splice(0)) this.#take(message);
      return 0;
    };
    return (await this.#next(early, find, ms, signal)).answer;
  }

  #next<T>(begin: () => Promise<Moment>, find: Find<T>, ms: number, signal: AbortSignal) {
    const work = this.#inTurn(() => {
      signal.throwIfAborted();
      return this.#wait(begin, find, ms);
    });
    return untilAborted(work, signal);
  }

  async #wait<T>(begin: () => Promise<Moment>, find: Find<T>, ms: number) {
    if (!this.isOpen()) throw offline(this.#place, "the connection has ended");
    const limit = withDeadline(new AbortController().signal, ms);
    const answered = new Promise<T>((resolve, reject) => {
      this.#lose = () => reject(lost(this.#place));
      this.#take = (message) => {
        try {
          const found = find(message);
          if (found !== undefined) resolve(found);
        } catch (error) {
          reject(error);
        }
      };
    });
    answered.catch(() => undefined);
    try {
      const sentAt = await untilAborted(begin(), limit.signal);
      return { answer: await untilAborted(answered, limit.signal), sentAt };
    } catch (error) {
      if (limit.over()) void this.close();
      if (error instanceof DeviceError) throw error;
      throw limit.over() ? silent(this.#place, ms) : lost(this.#place);
    } finally {
      this.#take = this.#keep;
      this.#lose = () => {};
      limit.done();
    }
  }
}

/** The result of `work`, or its failure with the connection closed. */
export async function orClose<T>(connection: Exchange, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Takes whole messages off the front of what has come so far, and returns what is left. */
export type Split = (text: string, take: (message: string) => void) => string;

export const byLine: Split = (text, take) => {
  const lines = text.split(/\r\n|\r|\n/);
  const rest = lines.pop() ?? "";
  for (const line of lines) take(line);
  return rest;
};

/** Objects of JSON that follow each other, with nothing or white space between them. */
export const byObject: Split = (text, take) => {
  let [depth, start] = [0, 0];
  // Strings are skipped as a whole; one that has not ended yet has no brace that counts.
  for (const { 0: part, index } of text.matchAll(/"(?:[^"\\]|\\.)*(?:"|$)|[{}]/g)) {
    if (part === "{") depth += 1;
    if (part !== "}") continue;
    depth -= 1;
    if (depth !== 0) continue;
    take(text.slice(start, index + 1));
    start = index + 1;
  }
  return text.slice(start);
};

/** Text on a stream. A message of more than 1 MB ends it. */
export function overStreams(
  input: Readable,
  output: Writable,
  split: Split,
  close: Transport["close"],
): Transport {
  let listener: (message: string) => void = () => undefined;
  let rest = "";
  let isEnded = false;
  const end = () => {
    isEnded = true;
    return close();
  };
  input.setEncoding("utf8");
  input.on("data", (text: string) => {
    rest = split(rest + text, (message) => listener(message));
    if (rest.length > mostBytes) void end();
  });
  input.on("close", () => (isEnded = true));
  output.on("error", () => undefined);
  return {
    send: (message) =>
      new Promise((resolve, reject) => {
        output.write(message, (error) => (error ? reject(error) : resolve(performance.now())));
      }),
    onMessage: (use) => (listener = use),
    onClose: (use) => input.on("close", use),
    isOpen: () => !isEnded && output.writable,
    close: end,
  };
}

export const overSocket = (socket: Socket, split: Split): Transport =>
  overStreams(socket, socket, split, () => void socket.destroy());
