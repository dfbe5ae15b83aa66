import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type ResourceLimits, Worker } from "node:worker_threads";
import type { ToolError } from "../../../errors.ts";
import { packageFolder } from "../../../storage/engine/packageFolder.ts";

export type WorkerSettings = {
  /** Of the build: `dist/<name>.js`. */
  name: string;
  /** In place of the built file. */
  file?: URL | undefined;
  timeoutMs: number;
  resourceLimits: ResourceLimits;
  tooSlow(): ToolError;
  /** `error` is what ended the thread; undefined if it just went. */
  endedBy(error: unknown): ToolError;
};

/** Work that a caller shapes, in a thread with limits of time and memory for each question. */
export type WorkerThread<Question, Answer> = {
  /** One at a time, so that the time limit is for this one. */
  ask(question: Question): Promise<Answer>;
  close(): Promise<void>;
};

/** The thread starts with the first question, and again after one that broke it. */
export function createWorkerThread<Question, Answer>(
  settings: WorkerSettings,
): WorkerThread<Question, Answer> {
  let thread: Thread<Question, Answer> | undefined;
  let tail: Promise<unknown> = Promise.resolve();
  const ask = async (question: Question): Promise<Answer> => {
    if (!thread?.lives) thread = new Thread(settings);
    return thread.ask(question);
  };
  return {
    ask(question) {
      const turn = tail.then(() => ask(question));
      tail = turn.catch(() => undefined);
      return turn;
    },
    async close() {
      await thread?.end(settings.endedBy(undefined));
    },
  };
}

export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";

type Pending<Answer> = { resolve(answer: Answer): void; reject(error: unknown): void };

class Thread<Question, Answer> {
  lives = true;
  private readonly worker: Worker;
  private pending: Pending<Answer> | undefined;

  constructor(private readonly settings: WorkerSettings) {
    const { name, file, resourceLimits, endedBy } = settings;
    // A test runner's loaders are of no use to a bundled worker.
    this.worker = new Worker(file ?? pathToFileURL(join(packageFolder(), "dist", `${name}.js`)), {
      execArgv: [],
      resourceLimits,
    });
    this.worker.unref();
    this.worker.on("message", (answer: Answer) => this.pending?.resolve(answer));
    this.worker.on("error", (error) => this.fail(endedBy(error)));
    this.worker.on("exit", () => this.fail(endedBy(undefined)));
  }

  async ask(question: Question): Promise<Answer> {
    const { timeoutMs, tooSlow } = this.settings;
    const timer = setTimeout(() => void this.end(tooSlow()), timeoutMs);
    try {
      return await new Promise<Answer>((resolve, reject) => {
        this.pending = { resolve, reject };
        this.worker.postMessage(question);
      });
    } finally {
      clearTimeout(timer);
      this.pending = undefined;
    }
  }

  async end(why: ToolError): Promise<void> {
    this.fail(why);
    await this.worker.terminate();
  }

  private fail(error: ToolError): void {
    this.lives = false;
    this.pending?.reject(error);
  }
}
