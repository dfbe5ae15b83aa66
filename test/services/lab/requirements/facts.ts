import { randomUUID } from "node:crypto";
import { databaseOnly, type ExecutionStatus, testcaseSchema } from "#mcp-server/domain/index.ts";
import type { Database, NewRequirement } from "#mcp-server/storage/index.ts";
import { executionRows, type NewExecution } from "#mcp-server/storage/rows/executionRows.ts";
import { testcaseRows } from "#mcp-server/storage/rows/testcaseRows.ts";

/** Instants of the tests, in order. */
export const minute = (n: number) => new Date(Date.UTC(2030, 0, 1, 0, n)).toISOString();

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

/** Stores a run as it stands, by default that of a test case which passed, and gives its id. */
export async function storeRun(
  db: Database,
  run: { name: string; status: ExecutionStatus; at: number } & Partial<NewExecution>,
): Promise<string> {
  const { at, ...given } = run;
  const execution: NewExecution = {
    id: randomUUID(),
    kind: "testcase",
    started_at: minute(at),
    host_name: "lab",
    device: "lab/box",
    device_model: "simulated",
    triggered_by: "test",
    correlation_id: "test",
    verified_count: 1,
    outputs: {},
    input: {},
    ...given,
  };
  await executionRows(db).insert(execution);
  return execution.id;
}
