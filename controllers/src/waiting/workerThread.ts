import { type ResourceLimits, Worker } from "node:worker_threads";

export type WorkerSettings = {
  /** A file, or the code itself, as a CommonJS script. */
  code: URL | string;
  resourceLimits: ResourceLimits;
  /** The error for a question that takes longer than its limit. */
  tooSlow(timeoutMs: number): Error;
  /** The error for a thread that ended. `cause` is undefined if it just went. */
  endedBy(cause: unknown, isMemory: boolean): Error;
  onExit?(): void;
  /** A thread without work ends after this, to free its memory; 5 s when left out. */
  idleMs?: number;
};

/** The limits of one question. `heapMb` is its `maxOldGenerationSizeMb`, in place of the thread's usual one. */
export type QuestionLimits = { timeoutMs: number; signal?: AbortSignal; heapMb?: number };

/** Work that a caller shapes, in a thread with limits of time and memory for each question. */
export type WorkerThread<Question, Answer> = {
  /**
   * One at a time, so that the time limit is for this one. Both travel as structured clones. Throws the errors of
   * {@link WorkerSettings}, and the signal's reason.
   */
  ask(question: Question, limits: QuestionLimits): Promise<Answer>;
  close(): Promise<void>;
};

const usualIdleMs = 5_000;

/** The thread starts with the first question, and again after one that broke it or a long rest. */
export function createWorkerThread<Question, Answer>(
  settings: WorkerSettings,
): WorkerThread<Question, Answer> {
  let thread: Thread<Question, Answer> | undefined;
  let tail: Promise<unknown> = Promise.resolve();
  const ask = async (question: Question, limits: QuestionLimits): Promise<Answer> => {
    limits.signal?.throwIfAborted();
    const usual = settings.resourceLimits;
    const heapMb = limits.heapMb ?? usual.maxOldGenerationSizeMb;
    // The heap of a thread is fixed when it starts.
    if (thread?.lives && thread.heapMb !== heapMb) await thread.end(undefined);
    if (!thread?.lives) thread = new Thread(settings, heapMb);
    return thread.ask(question, limits);
  };
  return {
    ask(question, limits) {
      const turn = tail.then(() => ask(question, limits));
      tail = turn.catch(() => undefined);
      return turn;
    },
    async close() {
      await thread?.end(settings.endedBy(undefined, false));
    },
  };
}

type Pending<Answer> = { resolve(answer: Answer): void; reject(error: unknown): void };

class Thread<Question, Answer> {
  lives = true;
  private readonly worker: Worker;
  private readonly settings: WorkerSettings;
  private pending: Pending<Answer> | undefined;
  private rest: NodeJS.Timeout | undefined;

  constructor(
    settings: WorkerSettings,
    readonly heapMb: number | undefined,
  ) {
    this.settings = settings;
    const { code, endedBy } = settings;
    const resourceLimits = { ...settings.resourceLimits, ...(heapMb && { maxOldGenerationSizeMb: heapMb }) };
    // A test runner's loaders are of no use to a bundled worker.
    this.worker = new Worker(code, { eval: typeof code === "string", execArgv: [], resourceLimits });
    this.worker.unref();
    this.worker.on("message", (answer: Answer) => this.pending?.resolve(answer));
    // An answer that is nested too deep to be read here.
    this.worker.on("messageerror", (error) => this.pending?.reject(endedBy(error, false)));
    this.worker.on("error", (error) => this.fail(endedBy(error, isOutOfMemory(error))));
    this.worker.on("exit", () => {
      this.fail(endedBy(undefined, false));
      settings.onExit?.();
    });
  }

  async ask(question: Question, { timeoutMs, signal }: QuestionLimits): Promise<Answer> {
    clearTimeout(this.rest);
    const timer = setTimeout(() => void this.end(this.settings.tooSlow(timeoutMs)), timeoutMs);
    const onAbort = () => void this.end(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await new Promise<Answer>((resolve, reject) => {
        this.pending = { resolve, reject };
        this.worker.postMessage(question);
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      this.pending = undefined;
      const { idleMs = usualIdleMs } = this.settings;
      this.rest = setTimeout(() => void this.end(undefined), idleMs).unref();
    }
  }

  async end(why: unknown): Promise<void> {
    this.fail(why);
    await this.worker.terminate();
  }

  private fail(error: unknown): void {
    this.lives = false;
    clearTimeout(this.rest);
    this.pending?.reject(error);
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
