import { copyFileSync, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { parentPort } from "node:worker_threads";
import { Database } from "node-sqlite3-wasm";
import type { SqliteAnswer, SqliteQuestion } from "./sqlite.ts";

/** The types of Node do not name it. */
declare const WebAssembly: {
  Memory: { prototype: { readonly buffer: ArrayBuffer; grow(pages: number): number } };
};

/** A larger file takes too long to copy for a step that a person waits for. */
const largestFile = 1_073_741_824;
const mostCopies = 3;

/**
 * Bytes that SQLite may use. V8's limits do not count them, and this build has no limit of its own. It sorts and groups in memory,
 * so a large file gets more.
 */
let mostMemory = 0;
const memoryOf = (fileSize: number) => Math.min(41_943_040 + fileSize, 536_870_912);
const pageSize = 65_536;

const grow = WebAssembly.Memory.prototype.grow;
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength + pages * pageSize > mostMemory) throw new RangeError("out of memory");
  return grow.call(this, pages);
};

let open: { database: Database; key: string } | undefined;

parentPort?.on("message", (question: SqliteQuestion) => parentPort?.postMessage(answer(question)));

function answer(question: SqliteQuestion): SqliteAnswer {
  let database: Database;
  try {
    database = opened(question);
  } catch (error) {
    return { kind: "unreachable", problem: messageOf(error) };
  }
  try {
    return read(database, question);
  } catch (error) {
    const problem = messageOf(error);
    return problem === "out of memory" ? { kind: "memory" } : { kind: "refused", problem };
  }
}

/** The database as its files are now: opened again once they changed. */
function opened({ path, folder }: SqliteQuestion): Database {
  const key = stateOf(path);
  if (open?.key === key) return open.database;
  open?.database.close();
  open = undefined;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const copy = join(folder, "copy.db");
  const taken = copied(path, copy);
  const database = new Database(copy, { fileMustExist: true });
  // With a lock of its own, SQLite reads a write-ahead log without shared memory, which this build lacks.
  database.exec("pragma locking_mode = exclusive");
  database.exec("pragma query_only = 1");
  database.get("select count(*) from sqlite_master");
  open = { database, key: taken };
  return database;
}

const logOf = (path: string) => `${path}-wal`;
const journalOf = (path: string) => `${path}-journal`;

function stateOf(path: string): string {
  const parts = [path, logOf(path), journalOf(path)].map((file) => {
    if (file !== path && !existsSync(file)) return "none";
    const { size, mtimeMs, ino } = statSync(file);
    return `${ino} ${size} ${mtimeMs}`;
  });
  return `${path}: ${parts.join(", ")}`;
}

/** Copies until nothing was written meanwhile. Returns the state of what was copied. */
function copied(path: string, copy: string): string {
  const { size } = statSync(path);
  mostMemory = memoryOf(size);
  if (size > largestFile) throw new Error(`it has ${size} bytes, over ${largestFile}`);
  for (let tries = 0; tries < mostCopies; tries++) {
    for (const file of [copy, logOf(copy), journalOf(copy)]) rmSync(file, { force: true });
    const before = stateOf(path);
    copyFileSync(path, copy);
    for (const [from, to] of [
      [logOf(path), logOf(copy)],
      [journalOf(path), journalOf(copy)],
    ] as const)
      if (existsSync(from)) copyFileSync(from, to);
    if (stateOf(path) === before) return before;
  }
  throw new Error(`another program wrote to it during each of ${mostCopies} tries to read it`);
}

function read(database: Database, { sql, values, most }: SqliteQuestion): SqliteAnswer {
  const statement = database.prepare(sql);
  try {
    const rows: Record<string, unknown>[] = [];
    let bytes = 0;
    for (const found of statement.iterate([...values])) {
      const row = Object.fromEntries(Object.entries(found).map(([name, value]) => [name, plain(value)]));
      bytes += JSON.stringify(row).length;
      if (rows.length >= most.rows) return { kind: "rows" };
      if (bytes > most.bytes) return { kind: "bytes" };
      rows.push(row);
    }
    return { rows };
  } finally {
    statement.finalize();
  }
}

/** As JSON holds it: a whole number that a double cannot hold is text, bytes are base64. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
