import { randomUUID } from "node:crypto";
import { databaseOnly, type ExecutionStatus, testcaseSchema } from "#mcp-server/domain/index.ts";
import type { Database, NewRequirement } from "#mcp-server/storage/index.ts";
import type { NewExecution } from "#mcp-server/storage/rows/executionRows.ts";
import { testcaseRows } from "#mcp-server/storage/rows/testcaseRows.ts";
import { minute, storeOpenRun } from "../../../fixtures/executionRecords.ts";

export { minute };

export const draft = (more: Partial<NewRequirement> = {}): NewRequirement => ({
  id: randomUUID(),
  name: "Login works",
  description: "",
  priority: "P2",
  acceptance_criteria: [],
  status: "active",
  ...more,
});

/** Saves a test case that does nothing and gives its id. */
export async function saveTestcase(db: Database, name: string, more: object = {}): Promise<string> {
  const blocks = [
    { id: "start", type: "start" },
    { id: "done", type: "success" },
  ];
  const testcase = testcaseSchema.parse({ name, blocks, edges: [{ from: "start", to: "done" }], ...more });
  const { id } = await testcaseRows(db).upsert(
    { id: randomUUID(), testcase, source: databaseOnly },
    minute(0),
  );
  return id;
}

/** Stores a run of a test case as it stands, and gives its id. */
export async function storeRun(
  db: Database,
  run: { name: string; status: ExecutionStatus; at: number } & Partial<NewExecution>,
): Promise<string> {
  const { at, ...given } = run;
  const id = randomUUID();
  await storeOpenRun(db, id, { started_at: minute(at), ...given });
  return id;
}
