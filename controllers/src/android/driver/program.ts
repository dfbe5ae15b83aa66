import { join } from "node:path";
import { z } from "zod";
import { DeviceError } from "../../errors.ts";
import { type RunningProgram, startProgram } from "../../programs/run.ts";
import { untilAborted, withDeadline } from "../../waiting/deadlines.ts";

/** Enough to load its packages on a busy machine. */
const readyMs = 60_000;
/** It closes its session on the device in this time, or removes what is left of it. */
const endMs = 6_000;
/** Kept from its start only: later output may contain typed text. */
const mostSaid = 4_000;

/** The first one, with the id of no call, says that the program is ready. */
const answerSchema = z.object({ id: z.int(), error: z.string().optional(), value: z.unknown().optional() });
const readyId = 0;
const readySchema = z.object({ serverVersion: z.string() });
type Answer = z.output<typeof answerSchema>;
type Waiting = { resolve(answer: Answer): void; reject(why: DriverGone): void };

export type DriverCall = { timeoutMs: number; signal: AbortSignal };
export type DriverEnvironment = Readonly<Record<string, string | undefined>>;

/** The driver refused a call: its own words, which may hold what was typed. */
export class DriverRefusal extends Error {
  constructor(readonly said: string) {
    super("The driver refused a call.");
    this.name = "DriverRefusal";
  }
}

/** The driver's process is gone, so it is not known whether the last call was done. */
export class DriverGone extends Error {
  constructor(why: string) {
    super(`The driver's process ended: ${why}.`);
    this.name = "DriverGone";
  }
}

export class DriverLate extends Error {
  constructor(readonly timeoutMs: number) {
    super(`The driver did not answer within ${timeoutMs} ms.`);
    this.name = "DriverLate";
  }
}

/**
 * The child process that Appium's driver runs in: it starts programs of its own, reads its environment and logs what is
 * typed. It ends with its channel to us, and removes what it made on the device and in the adb server.
 */
export class DriverProgram {
  readonly #program: RunningProgram;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ready: Promise<Answer>;
  /** Fulfilled when its process is gone. */
  readonly gone: Promise<void>;
  #calls = readyId;
  #gone: DriverGone | undefined;
  #said = "";
  #isReady = false;

  /** `folder` is that of the add-on. */
  constructor(folder: string, env: DriverEnvironment) {
    const entry = join(folder, "driverProgram.js");
    this.#program = startProgram(process.execPath, [entry], { cwd: folder, env: { ...env }, ipc: true });
    const { child } = this.#program;
    child.stdout?.resume();
    child.stderr?.on("data", (part: Buffer) => {
      if (!this.#isReady && this.#said.length < mostSaid) this.#said += part.toString("utf8");
    });
    this.#ready = this.#answerTo(readyId);
    this.#ready.catch(() => undefined);
    child.on("message", (message) => this.#hear(message));
    this.gone = new Promise((resolve) => {
      const end = (why: string) => {
        this.#end(why);
        resolve();
      };
      child.once("error", (error) => end(error.message));
      child.once("exit", (code, signal) => end(signal === null ? `it ended with ${code}` : `by ${signal}`));
    });
  }

  get pid(): number | undefined {
    return this.#program.child.pid;
  }

  isRunning(): boolean {
    return this.#gone === undefined;
  }

  /** Resolves when its packages are loaded. Throws ADDON_UNUSABLE when they do not load. */
  async ready(signal: AbortSignal): Promise<z.output<typeof readySchema>> {
    const limit = withDeadline(signal, readyMs);
    try {
      return readySchema.parse((await untilAborted(this.#ready, limit.signal)).value);
    } catch (error) {
      signal.throwIfAborted();
      throw unusable(limit.over() ? `it was not ready within ${readyMs} ms` : `${error}\n${this.#said}`);
    } finally {
      limit.done();
    }
  }

  /** Calls a method of the program and returns its value. Throws DriverRefusal, DriverGone, DriverLate, and the signal's reason. */
  async call(method: string, args: readonly unknown[], { timeoutMs, signal }: DriverCall): Promise<unknown> {
    const limit = withDeadline(signal, timeoutMs);
    const id = ++this.#calls;
    try {
      const answer = await untilAborted(this.#ask({ id, method, args }), limit.signal);
      if (answer.error !== undefined) throw new DriverRefusal(answer.error);
      return answer.value;
    } catch (error) {
      signal.throwIfAborted();
      throw limit.over() ? new DriverLate(timeoutMs) : error;
    } finally {
      this.#waiting.delete(id);
      limit.done();
    }
  }

  /** Closes its session. Resolves when it and its child processes are gone. */
  async end(): Promise<void> {
    await this.#program.end(endMs);
  }

  /** Ends it without contacting the device, where nothing is its own any more. */
  async kill(): Promise<void> {
    await this.#program.end(0);
  }

  #ask(question: { id: number; method: string; args: readonly unknown[] }): Promise<Answer> {
    const { child } = this.#program;
    if (child.connected) child.send(question, () => undefined);
    return this.#answerTo(question.id);
  }

  #answerTo(id: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#gone) reject(this.#gone);
      else this.#waiting.set(id, { resolve, reject });
    });
  }

  #hear(message: unknown): void {
    const { data } = answerSchema.safeParse(message);
    if (data?.id === readyId) {
      this.#isReady = true;
      this.#said = "";
    }
    if (data) this.#waiting.get(data.id)?.resolve(data);
  }

  #end(why: string): void {
    this.#gone ??= new DriverGone(why);
    for (const { reject } of this.#waiting.values()) reject(this.#gone);
    this.#waiting.clear();
  }
}

const unusable = (why: string) =>
  new DeviceError(
    "ADDON_UNUSABLE",
    `The add-on android-driver does not start: ${why.trim().slice(0, 500)}. Run: labwright setup android`,
    { addon: "android-driver" },
  );
