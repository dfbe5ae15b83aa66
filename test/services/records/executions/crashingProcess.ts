import { writeSync } from "node:fs";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { createExecutions } from "#mcp-server/services/records/executions/index.ts";
import { createNotices } from "#mcp-server/services/records/notices.ts";
import { eventRows, openStorage } from "#mcp-server/storage/index.ts";
import { executionRows } from "#mcp-server/storage/rows/executionRows.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { simulatedDevices, testSecrets } from "../../../fixtures/simulated.ts";

// A server that a test kills in the middle of a run. What it says was reached.

const [dataDir = "", worker = "", templateFile = ""] = process.argv.slice(2);
const { db } = await openStorage({ dataDir, workerFile: new URL(worker), templateFile });
const executions = createExecutions({
  notices: createNotices(),
  rows: executionRows(db),
  devices: simulatedDevices(),
  events: { append: (tx, event) => eventRows(tx).append(tx, { ...event, at: new Date().toISOString() }) },
  secrets: testSecrets(),
  clock: systemClock,
  host: "lab",
});
await executions.run(
  { kind: "testcase", name: "killed", device: {}, input: {}, wait_ms: 600_000, timeout_ms: 600_000 },
  callContext(),
  async (run) => {
    for (const label of ["one", "two"]) {
      await run.step({
        path: label,
        kind: "set",
        label,
        status: "passed",
        started_at: new Date().toISOString(),
        duration_ms: 1,
        input: null,
        output: null,
        artifacts: [],
      });
    }
    writeSync(1, `${run.id}\n`);
    // Goes on until it is killed.
    await new Promise(() => setInterval(() => {}, 60_000));
    return { status: "passed", output: {} };
  },
);
