import { existsSync } from "node:fs";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import type { WorkerOptions, WorkerOrder } from "./engine.ts";
import { SharedSession } from "./session.ts";
import { isCluster, placeCluster, unpackTemplate } from "./template.ts";

const options: WorkerOptions = workerData;

async function initialise(folder: string): Promise<void> {
  if (options.templateFile !== undefined && existsSync(options.templateFile))
    return unpackTemplate(options.templateFile, folder);
  const fresh = await PGlite.create({ dataDir: folder, initDbStartParams: ["--wal-segsize=1"] });
  await fresh.close();
}

const started = performance.now();
if (!isCluster(options.folder)) await placeCluster(options.folder, initialise);
const placed = performance.now();
// PGlite's default of 128 MB is of no use to one session and costs 130 MB of memory and a third of the time to open.
const db = await PGlite.create({
  dataDir: options.folder,
  startParams: [...PGlite.defaultStartParams, "-c", `shared_buffers=${options.sharedBuffers}`],
});

const session = new SharedSession(
  {
    version: "18.0",
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
parentPort?.postMessage({ placeMs: placed - started, openMs: performance.now() - placed });
