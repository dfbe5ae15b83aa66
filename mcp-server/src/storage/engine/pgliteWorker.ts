import { existsSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { brotliDecompressSync } from "node:zlib";
import { PGlite } from "@electric-sql/pglite";
import type { WorkerOptions, WorkerOrder } from "./engine.ts";
import { SharedSession } from "./session.ts";
import { isCluster, placeCluster, unpackTemplate } from "./template.ts";

const options: WorkerOptions = workerData;

/**
 * On a full disk PostgreSQL ends itself when it cannot extend its log (PANIC), and PGlite hangs for ever. So it takes no
 * changes before that point: this is what a large transaction and the last moments since the last check may write.
 */
const reserveBytes = 16_000_000;
const lookEveryMs = 100;

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(existsSync(options.folder) ? options.folder : dirname(options.folder));
  return bavail * bsize;
}

function checkSpace(): void {
  const free = freeBytes();
  if (free < reserveBytes)
    throw new Error(`the disk of ${options.folder} has ${free} bytes free, and ${reserveBytes} are needed`);
}

/** PGlite's files of PostgreSQL, which the build ships compressed (1.2 MB instead of 6.2); from the sources, PGlite has them. */
function filesOfPostgres(): { fsBundle?: Blob } {
  const file = new URL("pglite.data.br", import.meta.url);
  return existsSync(file) ? { fsBundle: new Blob([brotliDecompressSync(readFileSync(file))]) } : {};
}

async function initialise(folder: string): Promise<void> {
  if (options.templateFile !== undefined && existsSync(options.templateFile))
    return unpackTemplate(options.templateFile, folder);
  const fresh = await PGlite.create({
    ...filesOfPostgres(),
    dataDir: folder,
    initDbStartParams: ["--wal-segsize=1"],
  });
  await fresh.close();
}

checkSpace();
if (!isCluster(options.folder)) await placeCluster(options.folder, initialise);
// The data directory's lock is ours, so this file is of a killed process. If it was killed while it wrote the file, the
// file is empty, and PostgreSQL would refuse to start for ever.
rmSync(join(options.folder, "postmaster.pid"), { force: true });
// PGlite's default of 128 MB is of no use to one session and costs 130 MB of memory and a third of the time to open.
const db = await PGlite.create({
  ...filesOfPostgres(),
  dataDir: options.folder,
  startParams: [...PGlite.defaultStartParams, "-c", `shared_buffers=${options.sharedBuffers}`],
});

let lookedAt = performance.now();
let isShort = false;
/** Without space the database can be read only, until there is space again. */
async function lookAtSpace(): Promise<void> {
  if (performance.now() - lookedAt < lookEveryMs) return;
  lookedAt = performance.now();
  const wasShort = isShort;
  isShort = freeBytes() < reserveBytes;
  if (isShort !== wasShort) await db.exec(`set default_transaction_read_only = ${isShort ? "on" : "off"}`);
}

const session = new SharedSession(
  {
    version: "18.0",
    beforeTransaction: lookAtSpace,
    // Its state is unknown now; what is stored is whole, and the next thread recovers it.
    broken: () => process.exit(1),
    execute: (bytes) => db.execProtocolRaw(bytes),
    rollback: async () => {
      await db.exec("ROLLBACK");
    },
  },
  options.transactionWaitMs,
);

function serve(port: MessagePort): void {
  const connection = session.attach({
    send: (bytes) => port.postMessage(bytes, [bytes.buffer]),
    close: () => port.close(),
  });
  port.on("message", (chunk: Uint8Array) => connection.receive(chunk));
  port.on("close", () => void connection.detach());
}

parentPort?.on("message", (order: WorkerOrder) => {
  if (order !== "close") return serve(order.connect);
  void db.close().finally(() => process.exit(0));
});
parentPort?.postMessage("open");
