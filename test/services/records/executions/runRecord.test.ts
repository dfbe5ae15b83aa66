import { expect, it } from "vitest";
import type { Step } from "#mcp-server/domain/index.ts";
import { RunRecord } from "#mcp-server/services/records/executions/runRecord.ts";
import { executionRows } from "#mcp-server/storage/rows/executionRows.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { runOf } from "../../../fixtures/executionRecords.ts";

const step = (index: number): Step => ({
  index,
  path: "",
  kind: "actions",
  label: `step ${index}`,
  status: "passed",
  started_at: "2026-01-01T00:00:00.000Z",
  duration_ms: 1,
  input: null,
  output: null,
  artifacts: [],
});
const { execution, end } = runOf("late", { kind: "actions" });

describeEachDatabase("the record of a run", (open) => {
  it("loses no step when the database refuses one while the row is made late", async () => {
    const rows = executionRows((await open()).db);
    let refusals = 1;
    const record = new RunRecord(
      {
        ...rows,
        appendStep: async (id, one) => {
          if (one.index === 1 && refusals-- > 0) throw new Error("disk full");
          return rows.appendStep(id, one);
        },
      },
      execution,
    );
    for (const index of [0, 1, 2]) await record.step(step(index));
    await expect(record.open()).rejects.toThrow("disk full");
    await record.step(step(3));
    await record.end(end, undefined);
    expect((await rows.steps("late")).map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect((await rows.find("late"))?.execution.status).toBe("passed");
  });
});
