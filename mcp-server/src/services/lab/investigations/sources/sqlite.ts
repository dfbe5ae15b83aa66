import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { packageFolder } from "../../../../storage/engine/packageFolder.ts";
import {
  type Limits,
  mostBytes,
  mostRows,
  type QuerySource,
  type Row,
  refused,
  textOf,
  tooMuch,
  tooSlow,
  unreachable,
} from "./source.ts";

const resourceLimits = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };

export type SqliteQuestion = {
  path: string;
  /** The worker's own, for its copy. */
  folder: string;
  sql: string;
  values: readonly (string | number | bigint | null)[];
  most: { rows: number; bytes: number };
};
/** `problem` ends as a sentence that has the source's name before it. */
export type SqliteAnswer =
  | { rows: Row[] }
  | { kind: "rows" | "bytes" }
  | { kind: "unreachable" | "refused"; problem: string };

/**
 * A SQLite file. A thread reads a private copy of it (also of what its write-ahead log holds), so that nothing is locked or written
 * in the folder of the file. A query that does not end in time ends with its thread.
 */
export function createSqliteSource(name: string, path: string): QuerySource {
  let thread: Thread | undefined;
  let tail: Promise<unknown> = Promise.resolve();

  const ask = async (question: Omit<SqliteQuestion, "folder">, { signal, timeoutMs }: Limits) => {
    signal.throwIfAborted();
    thread = thread?.lives ? thread : new Thread();
    const running = thread;
    const onAbort = () => running.end(signal.reason);
    const timer = setTimeout(() => running.end(tooSlow(name, timeoutMs)), timeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await running.ask(question);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  };

  return {
    async query(statement, limits) {
      const sql = textOf(statement, (at) => `?${at + 1}`);
      const values = statement.values.map(bindable);
      const question = { path, sql, values, most: { rows: mostRows, bytes: mostBytes } };
      const turn = tail.then(() => ask(question, limits));
      tail = turn.catch(() => undefined);
      const answer = await turn;
      if ("rows" in answer) return answer.rows;
      if (answer.kind === "refused") throw refused(name, answer.problem);
      if (answer.kind === "unreachable") throw unreachable(name, answer.problem);
      throw tooMuch(name, answer.kind === "rows" ? `${mostRows} rows` : `${mostBytes} bytes`);
    },
    async close() {
      await thread?.end(new Error("closed"));
    },
  };
}

function bindable(value: unknown): string | number | bigint | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") return value;
  return JSON.stringify(value);
}

class Thread {
  lives = true;
  private readonly worker: Worker;
  private readonly folder = mkdtempSync(join(tmpdir(), "labwright-sqlite-"));
  private pending: { resolve(answer: SqliteAnswer): void; reject(error: unknown): void } | undefined;

  constructor() {
    const file = pathToFileURL(join(packageFolder(), "dist", "sqliteWorker.js"));
    this.worker = new Worker(file, { execArgv: [], resourceLimits });
    this.worker.unref();
    this.worker.on("message", (answer: SqliteAnswer) => this.pending?.resolve(answer));
    this.worker.on("error", (error) => this.fail(error));
    this.worker.on("exit", () => {
      this.fail(new Error("the thread that reads SQLite files ended"));
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  ask(question: Omit<SqliteQuestion, "folder">): Promise<SqliteAnswer> {
    return new Promise<SqliteAnswer>((resolve, reject) => {
      this.pending = { resolve, reject };
      this.worker.postMessage({ ...question, folder: this.folder });
    });
  }

  async end(why: unknown): Promise<void> {
    this.fail(why);
    await this.worker.terminate();
  }

  private fail(error: unknown): void {
    this.lives = false;
    this.pending?.reject(error);
  }
}
