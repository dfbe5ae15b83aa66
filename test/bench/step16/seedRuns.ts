import { openStorage } from "#mcp-server/storage/index.ts";
import { executionRows } from "#mcp-server/storage/rows/executionRows.ts";
import { runOf } from "../../fixtures/executionRecords.ts";

// A program: stores so many ended runs in a data directory, a minute between two, of 50 tests in turn. Every tenth failed.

const [dataDir = "", count = ""] = process.argv.slice(2);
const minuteMs = 60_000;

const storage = await openStorage({ dataDir });
const rows = executionRows(storage.db);
for (let left = Number(count); left > 0; left--) {
  const at = new Date(Date.now() - left * minuteMs).toISOString();
  const end = { status: left % 10 === 0 ? "failed" : "passed", finished_at: at } as const;
  const facts = { name: `checkout ${left % 50}`, started_at: at, end };
  await rows.insertFinished(runOf(crypto.randomUUID(), facts));
}
await storage.close();
