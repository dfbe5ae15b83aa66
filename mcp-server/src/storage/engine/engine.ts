import { join } from "node:path";
import type { Duplex } from "node:stream";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { packageFolder } from "./packageFolder.ts";
import { PortStream } from "./portStream.ts";

/** What passes through the thread is gone at once; with V8's default it keeps some 20 MB more after a load. */
const youngMegabytes = 8;
/**
 * How much a function of WebAssembly runs before V8 compiles it again, optimised. V8's default (1.8 million) has it optimise
 * half of PostgreSQL while it opens, which takes a third of the processor's time of a short life.
 */
const optimiseAfter = 50_000_000;

// This file imports nothing heavy on purpose: the daemon starts the engine first and loads its own code meanwhile.

/** Where the build puts the worker and the template, and where a data directory keeps its cluster. */
export function engineFiles(dataDir: string): { folder: string; templateFile: string; workerFile: URL } {
  const dist = join(packageFolder(), "dist");
  return {
    folder: join(dataDir, "db"),
    templateFile: join(dist, "template.tar.br"),
    workerFile: pathToFileURL(join(dist, "pgliteWorker.js")),
  };
}

export type EngineOptions = {
  /** The cluster's folder; made when it is not there. The caller owns the data directory's lock. */
  folder: string;
  /** A cluster without rows to start from; without it, initdb runs (about 2 s more). */
  templateFile?: string | undefined;
  workerFile: URL;
  /** How long others wait for a connection that is idle in a transaction. */
  transactionWaitMs?: number | undefined;
  sharedBuffers?: string | undefined;
  /** The engine must be open by then. */
  openTimeoutMs?: number | undefined;
};
export type WorkerOptions = Pick<EngineOptions, "folder" | "templateFile"> & {
  transactionWaitMs: number;
  sharedBuffers: string;
};
export type WorkerOrder = { connect: MessagePort } | "close";

export type Engine = {
  /** A new connection, for node-postgres' `stream`. */
  connect(): Duplex;
  /** Aborts with an error when the thread ended without `close`. */
  lost: AbortSignal;
  /** Ends the thread, the database shut down cleanly where that takes less than 10 s. */
  close(): Promise<void>;
};

function opened(worker: Worker, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`the embedded database did not open within ${timeoutMs} ms`));
      void worker.terminate();
    }, timeoutMs);
    const settle = () => clearTimeout(timer);
    worker.once("message", () => {
      settle();
      resolve();
    });
    worker.once("error", (error) => {
      settle();
      reject(error);
    });
    worker.once("exit", (code) => {
      settle();
      reject(new Error(`the embedded database's thread ended with code ${code}`));
    });
  });
}

/** In the shape of a ToolError, which would bring more than this file may load. */
const threadEnded = (why: string) =>
  Object.assign(new Error(`The thread of the embedded database ended: ${why}.`), {
    code: "STORAGE_FAILED",
    hint: "What was acknowledged is kept. Start the daemon again; labwright doctor checks the disk and the database.",
  });

/**
 * Starts PGlite in a thread. Rejects when it cannot open the folder (damaged, no space, no rights); may be awaited later,
 * as a daemon does that loads its own code meanwhile.
 */
export function startEngine(options: EngineOptions): Promise<Engine> {
  const engine = start(options);
  engine.catch(() => {});
  return engine;
}

async function start(options: EngineOptions): Promise<Engine> {
  const workerData: WorkerOptions = {
    folder: options.folder,
    templateFile: options.templateFile,
    transactionWaitMs: options.transactionWaitMs ?? 5_000,
    sharedBuffers: options.sharedBuffers ?? "16MB",
  };
  setFlagsFromString(`--wasm-tiering-budget=${optimiseAfter}`);
  // Loaders of the process that starts it (a test runner's) are of no use to a bundled worker.
  const resourceLimits = { maxYoungGenerationSizeMb: youngMegabytes };
  const worker = new Worker(options.workerFile, { workerData, execArgv: [], resourceLimits });
  let alive = true;
  let isClosing = false;
  let fault: Error | undefined;
  const lost = new AbortController();
  const exited = new Promise<void>((resolve) => {
    worker.once("exit", (code) => {
      alive = false;
      resolve();
      if (!isClosing) lost.abort(threadEnded(fault?.message ?? `exit code ${code}`));
    });
  });
  await opened(worker, options.openTimeoutMs ?? 60_000);
  // A thread that dies later closes its ports; every connection then fails by itself.
  worker.on("error", (error) => {
    fault = error;
  });
  const order = (message: WorkerOrder, ports: MessagePort[] = []) => worker.postMessage(message, ports);
  return {
    lost: lost.signal,
    connect() {
      if (!alive) return new PortStream(undefined);
      const { port1, port2 } = new MessageChannel();
      order({ connect: port2 }, [port2]);
      return new PortStream(port1);
    },
    async close() {
      isClosing = true;
      if (!alive) return;
      order("close");
      const timer = setTimeout(() => void worker.terminate(), 10_000);
      await exited;
      clearTimeout(timer);
    },
  };
}
