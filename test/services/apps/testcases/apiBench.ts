import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll } from "vitest";
import {
  createSchemaChecker,
  type SchemaChecker,
} from "../../../../mcp-server/src/services/apps/testcases/api/schemaChecker.ts";
import { openStorage, type Storage } from "../../../../mcp-server/src/storage/index.ts";
import { bundled, engineFiles } from "../../../fixtures/engine.ts";

type Opened = { storage: Storage; folder: string; schemas: SchemaChecker };

/** Storage, a folder and the checker of schemas for the tests of one file; each test closes what it puts into the list. */
export function openForTests(use: (opened: Opened) => void): (() => Promise<void>)[] {
  const open: (() => Promise<void>)[] = [];
  let opened: Opened;
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "labwright-api-"));
    const storage = await openStorage({ dataDir: folder, ...(await engineFiles()) });
    const entry = "../../../../mcp-server/src/services/apps/testcases/api/schemaWorker.ts";
    const schemas = createSchemaChecker(await bundled(fileURLToPath(new URL(entry, import.meta.url))));
    opened = { storage, folder, schemas };
    use(opened);
  });
  afterEach(async () => {
    for (const close of open.splice(0)) await close();
  });
  afterAll(async () => {
    await opened.schemas.close();
    await opened.storage.close();
    await rm(opened.folder, { recursive: true, force: true });
  });
  return open;
}
