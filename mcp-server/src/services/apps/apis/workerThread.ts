import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type ResourceLimits, Worker } from "node:worker_threads";
import { ToolError } from "../../../errors.ts";
import { packageFolder } from "../../../storage/engine/packageFolder.ts";

export type WorkerSettings = {
  /** Of the build: `dist/<name>.js`. */
  name: string;
  /** In place of the built file. */
  file?: URL | undefined;
  timeoutMs: number;
  resourceLimits: ResourceLimits;
  /** What is done, for errors: "The check by JSON Schema". */
  work: string;
  /** How to ask for less. */
  hint: string;
};

/** Work that a caller shapes, in a thread with limits of time and memory for each question. */
export type WorkerThread<Question, Answer> = {
  /** One at a time, so that the time limit is for this one. Throws EXECUTION_TIMEOUT and OUT_OF_MEMORY. */
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
      await thread?.end(endedBy(undefined, settings));
    },
  };
}

/** `error` is what ended the thread; undefined if it just went. */
function endedBy(error: unknown, { work, hint }: WorkerSettings): ToolError {
  const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  const why = error instanceof Error ? `: ${error.message}` : "";
  const message = isMemory ? `${work} needed too much memory.` : `${work} was ended${why}.`;
  return new ToolError("OUT_OF_MEMORY", message, hint);
}

type Pending<Answer> = { resolve(answer: Answer): void; reject(error: unknown): void };

class Thread<Question, Answer> {
  lives = true;
  private readonly worker: Worker;
  private pending: Pending<Answer> | undefined;

  constructor(private readonly settings: WorkerSettings) {
    const { name, file, resourceLimits } = settings;
    // A test runner's loaders are of no use to a bundled worker.
    this.worker = new Worker(file ?? pathToFileURL(join(packageFolder(), "dist", `${name}.js`)), {
      execArgv: [],
      resourceLimits,
    });
    this.worker.unref();
    this.worker.on("message", (answer: Answer) => this.pending?.resolve(answer));
    this.worker.on("error", (error) => this.fail(endedBy(error, settings)));
    this.worker.on("exit", () => this.fail(endedBy(undefined, settings)));
  }

  async ask(question: Question): Promise<Answer> {
    const { timeoutMs, work, hint } = this.settings;
    const late = new ToolError("EXECUTION_TIMEOUT", `${work} took longer than ${timeoutMs} ms.`, hint);
    const timer = setTimeout(() => void this.end(late), timeoutMs);
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
