import type { ComponentChildren } from "preact";
import type { RunMark } from "../domain/execution.ts";
import { duration, moment } from "./format.ts";
import { Badge } from "./states.tsx";
import { Table } from "./table.tsx";

/** A run in a list, as `get_execution_results` has it. */
export type RunLine = RunMark & { kind: string; name: string; reason?: string; device?: string };

/** Whether a run has not ended. */
export const isOpen = ({ status }: { status: string }) => status === "running" || status === "queued";

type VerdictProps = { status: string; flaky?: boolean | undefined; reason?: string };

export const Verdict = ({ status, flaky, reason }: VerdictProps) => (
  <>
    <Badge status={status} /> {flaky && <Badge status="flaky" />} <span class="small">{reason}</span>
  </>
);

/** `nameOf` draws what opens a run. */
type RunTableProps = { runs: readonly RunLine[]; nameOf(run: RunLine): ComponentChildren };

export const RunTable = ({ runs, nameOf }: RunTableProps) => (
  <Table
    titles={["Run", "Status", "Device", "Started", "Took"]}
    rows={runs.map((run) => [
      <>
        {nameOf(run)} <span class="soft small">{run.kind}</span>
      </>,
      <Verdict {...run} />,
      run.device,
      moment(run.started_at),
      duration(run.duration_ms),
    ])}
  />
);
