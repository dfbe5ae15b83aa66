import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { DeviceError } from "../../errors.ts";
import type { Moment } from "../../ports.ts";
import { untilAborted, withDeadline } from "../../waiting/deadlines.ts";
import { lost, offline, type Place, silent } from "./failures.ts";

/** A connection that carries messages. `send` returns when the message left. */
export type Transport = {
  send(message: string): Promise<Moment>;
  onMessage(listener: (message: string) => void): void;
  onClose(listener: () => void): void;
  isOpen(): boolean;
  close(): void;
};

/** An answer of a remote comes within this time. */
export const answerMs = 5_000;
const mostKept = 20;
const mostBytes = 1_000_000;

type Waiter = { take(message: string): void; lose(): void };

/** Questions and their answers on one connection. */
export class Exchange {
  readonly #transport: Transport;
  readonly #place: Place;
  readonly #waiters = new Set<Waiter>();
  /** Came before anyone waited. */
  #early: string[] = [];

  constructor(transport: Transport, place: Place) {
    this.#transport = transport;
    this.#place = place;
    transport.onMessage((message) => {
      if (this.#waiters.size === 0) this.#early = [...this.#early, message].slice(-mostKept);
      for (const waiter of [...this.#waiters]) waiter.take(message);
    });
    transport.onClose(() => {
      for (const waiter of [...this.#waiters]) waiter.lose();
    });
  }

  isOpen(): boolean {
    return this.#transport.isOpen();
  }

  close(): void {
    this.#transport.close();
  }

  /**
   * Sends a message and waits for the first one that `find` accepts; `find` may throw a refusal. Throws DEVICE_OFFLINE, COMMAND_TIMEOUT,
   * which also ends the connection, so that a late answer is not taken for the next one, and TRANSPORT_LOST.
   */
  async ask<T>(
    message: string,
    find: (answer: string) => T | undefined,
    signal: AbortSignal,
    ms = answerMs,
  ): Promise<{ answer: T; sentAt: Moment }> {
    this.#early = [];
    let sentAt: Moment = 0;
    const send = async () => {
      sentAt = await this.#transport.send(message);
    };
    const answer = await this.#wait(find, { send, ms }, signal);
    return { answer, sentAt };
  }

  /** Waits for a message that comes by itself, or came already. */
  expect<T>(find: (message: string) => T | undefined, ms: number, signal: AbortSignal): Promise<T> {
    return this.#wait(find, { send: async () => undefined, ms }, signal);
  }

  async #wait<T>(
    find: (message: string) => T | undefined,
    { send, ms }: { send(): Promise<void>; ms: number },
    signal: AbortSignal,
  ): Promise<T> {
    signal.throwIfAborted();
    if (!this.isOpen()) throw offline(this.#place, "the connection has ended");
    const limit = withDeadline(signal, ms);
    let waiter: Waiter | undefined;
    const answered = new Promise<T>((resolve, reject) => {
      const take = (message: string) => {
        try {
          const found = find(message);
          if (found !== undefined) resolve(found);
        } catch (error) {
          reject(error);
        }
      };
      waiter = { take, lose: () => reject(lost(this.#place)) };
      this.#waiters.add(waiter);
      for (const message of this.#early.splice(0)) take(message);
    });
    answered.catch(() => undefined);
    try {
      await untilAborted(send(), limit.signal);
      return await untilAborted(answered, limit.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (limit.over()) this.close();
      if (error instanceof DeviceError) throw error;
      throw limit.over() ? silent(this.#place, ms) : lost(this.#place);
    } finally {
      if (waiter) this.#waiters.delete(waiter);
      limit.done();
    }
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
export function overStreams(input: Readable, output: Writable, split: Split, end: () => void): Transport {
  let listener: (message: string) => void = () => undefined;
  let rest = "";
  let isEnded = false;
  input.setEncoding("utf8");
  input.on("data", (text: string) => {
    rest = split(rest + text, (message) => listener(message));
    if (rest.length > mostBytes) end();
  });
  input.on("close", () => (isEnded = true));
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
  overStreams(socket, socket, split, () => socket.destroy());
