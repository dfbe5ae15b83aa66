import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import {
  createSchemaChecker,
  type SchemaChecker,
} from "#mcp-server/services/apps/apis/requests/schemaChecker.ts";
import { openStorage, type Storage } from "#mcp-server/storage/index.ts";
import { bundled, engineFiles } from "../../../fixtures/engine.ts";
import { serve } from "../../../fixtures/loopback.ts";
import { type BenchOptions, chain, openBench, runSaved, testcase } from "./testcaseBench.ts";

export type Given = Record<string, unknown>;

/** A storage of its own for the tests of one file; gives the folder that it is in. */
export function storageForTests(): { storage(): Storage; folder(): string } {
  let [storage, folder]: [Storage | undefined, string] = [undefined, ""];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "labwright-testcases-"));
    storage = await openStorage({ dataDir: folder, ...(await engineFiles()) });
  });
  afterAll(async () => {
    await storage?.close();
    await rm(folder, { recursive: true, force: true });
  });
  const opened = () => storage ?? fail();
  return { storage: opened, folder: () => folder };
}

const fail = (): never => {
  throw new Error("opened before the tests");
};

/** Benches that check by JSON Schema, with the folder of uploads, and servers that end with each test. */
export function apiTests() {
  const { storage, folder } = storageForTests();
  const open: (() => Promise<void>)[] = [];
  let checker: SchemaChecker | undefined;
  beforeAll(async () => {
    const entry = "../../../../mcp-server/src/services/apps/apis/requests/schemaWorker.ts";
    checker = createSchemaChecker(await bundled(fileURLToPath(new URL(entry, import.meta.url))));
  });
  afterEach(async () => {
    for (const close of open.splice(0)) await close();
  });
  afterAll(() => checker?.close());
  const schemas = () => checker ?? fail();

  const bench = (options: BenchOptions = {}) =>
    openBench(storage(), { schemas: schemas(), uploads: folder(), ...options });
  const answering = async (listener: Parameters<typeof serve>[0]) => {
    const server = await serve(listener);
    open.push(server.close);
    return server.url;
  };
  return {
    bench,
    schemas,
    folder,
    answering,
    /** A server that answers with this JSON. */
    json: (value: unknown, headers: Record<string, string> = {}) =>
      answering((_request, response) => {
        response
          .writeHead(200, { "content-type": "application/json", ...headers })
          .end(JSON.stringify(value));
      }),
    /** A server that answers with these bytes and hangs up. */
    async raw(answer: string) {
      const sockets = new Set<{ destroy(): void }>();
      const server = createServer((socket) => {
        sockets.add(socket);
        socket.on("error", () => {});
        socket.once("data", () => socket.end(answer));
      });
      await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
      open.push(async () => {
        for (const socket of sockets) socket.destroy();
        server.close();
      });
      const address = server.address();
      return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
    },
    ask: (url: string, more: Given = {}): Given => ({ id: "ask", type: "api_request", url, ...more }),
    run: (blocks: readonly Given[], options: BenchOptions = {}) =>
      runSaved(bench(options), testcase(chain(blocks))),
    passes: async (blocks: readonly Given[]) =>
      expect((await runSaved(bench(), testcase(chain(blocks)))).status).toBe("passed"),
  };
}
