import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWorkerThread } from "@labwright/controllers";
import { ToolError } from "../../../../errors.ts";
import { builtFile } from "../../../threads/workerThread.ts";
import {
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

/** For rows; SQLite's own memory is bounded in the thread. */
const resourceLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };

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
  | { kind: "rows" | "bytes" | "memory" }
  | { kind: "unreachable" | "refused"; problem: string };

/**
 * A SQLite file. A thread reads a private copy of it (also of what its write-ahead log holds), so that nothing is locked or written
 * in the folder of the file. A query that does not end in time ends with its thread.
 */
export function createSqliteSource(name: string, path: string): QuerySource {
  /** The thread's own, for its copy. */
  const folder = join(tmpdir(), `labwright-sqlite-${randomUUID()}`);
  const thread = createWorkerThread<SqliteQuestion, SqliteAnswer>({
    ...{ code: builtFile("sqliteWorker"), resourceLimits },
    tooSlow: (timeoutMs) => tooSlow(name, timeoutMs),
    endedBy: (cause, isMemory) => {
      if (isMemory) return needsMemory(name);
      return cause instanceof Error ? cause : new Error("the thread that reads SQLite files ended");
    },
    onExit: () => rmSync(folder, { recursive: true, force: true }),
  });

  return {
    async query(statement, limits) {
      const sql = textOf(statement, (at) => `?${at + 1}`);
      const values = statement.values.map(bindable);
      const question = { path, folder, sql, values, most: { rows: mostRows, bytes: mostBytes } };
      const answer = await thread.ask(question, limits);
      if ("rows" in answer) return answer.rows;
      if (answer.kind === "refused") throw refused(name, answer.problem);
      if (answer.kind === "unreachable") throw unreachable(name, answer.problem);
      if (answer.kind === "memory") throw needsMemory(name);
      throw tooMuch(name, answer.kind === "rows" ? `${mostRows} rows` : `${mostBytes} bytes`);
    },
    close: thread.close,
  };
}

const needsMemory = (name: string) =>
  new ToolError(
    "INVALID_RESPONSE",
    `The query to ${name} needed too much memory.`,
    "Narrow the query: sort, group and join fewer rows, and read no long texts.",
  );

function bindable(value: unknown): string | number | bigint | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") return value;
  return JSON.stringify(value);
}
