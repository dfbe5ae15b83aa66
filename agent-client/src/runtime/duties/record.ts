import { z } from "zod";
import {
  causeOf,
  classifications,
  type FinishedRun,
  isFlaky,
  type OtherRun,
  type PastRun,
  type RunSource,
  runStatuses,
  windowMs,
} from "../../analysis/index.ts";
import type { CallServer } from "../server.ts";

const statusSchema = z.object({
  execution_id: z.string(),
  kind: z.string(),
  name: z.string(),
  status: z.enum(runStatuses),
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  device: z.string().default("no device"),
  userinterface_name: z.string().optional(),
  started_at: z.string(),
  verified_count: z.int(),
  attempts: z
    .array(
      z.object({
        status: z.string(),
        reason: z.object({ code: z.string(), message: z.string() }).optional(),
      }),
    )
    .optional(),
  steps: z.array(z.object({ step: z.string(), status: z.string(), error: z.string().optional() })),
});

const lineSchema = z.object({
  execution_id: z.string(),
  kind: z.string(),
  name: z.string(),
  status: z.enum(runStatuses),
  reason: z.string().optional(),
  device: z.string().default("no device"),
  started_at: z.string(),
  flaky: z.boolean().optional(),
  classification: z.enum(classifications).optional(),
});
type Line = z.output<typeof lineSchema>;
const pageSchema = z.object({ executions: z.array(lineSchema) });

/** Failures whose record is read, of a test's history and of what ran beside it. */
const mostRead = { history: 10, around: 20 };
const tokens = { run: 8_000, failure: 1_000, page: 8_000 };

export type RunRecord = RunSource & {
  /** Whether somebody has said what a run is worth. */
  isJudged(run: Pick<FinishedRun, "execution_id" | "name" | "started_at">): Promise<boolean>;
};

/** The server's record of runs, by its tools. `build` is that of the run that is judged; a run is read once. */
export function readRecord(call: CallServer, signal: AbortSignal, build: string | undefined): RunRecord {
  const { readOnce, lines } = reader(call, signal);

  return {
    run: (executionId) => readOnce(executionId, tokens.run),

    async history(run) {
      const { kind, name, execution_id } = run;
      const all = await lines({ kind, name });
      const same = build === undefined ? [] : await lines({ kind, name, build });
      const ids = new Set(same.map((line) => line.execution_id));
      const past = uniqueLines([...same, ...all]).filter((line) => line.execution_id !== execution_id);
      const found = await withCauses(past.filter(isFinished), mostRead.history, readOnce);
      const buildOf = ({ execution_id: id }: OtherRun): PastRun["build"] =>
        build === undefined ? "unknown" : ids.has(id) ? "same" : "other";
      return found.map((one) => ({ ...one, build: buildOf(one) }));
    },

    async around({ execution_id, started_at, device, userinterface }) {
      const at = Date.parse(started_at);
      const time = { since: iso(at - windowMs), until: iso(at + windowMs) };
      const onDevice = await lines({ ...time, device });
      const ofApp =
        userinterface === undefined ? [] : await lines({ ...time, userinterface_name: userinterface });
      const app = new Set(ofApp.map((line) => line.execution_id));
      const near = uniqueLines([...onDevice, ...ofApp]).filter(
        (line) => line.execution_id !== execution_id && isFinished(line) && isTest(line),
      );
      const found = await withCauses(near, mostRead.around, readOnce);
      return found.map((one) =>
        app.has(one.execution_id) && userinterface !== undefined ? { ...one, userinterface } : one,
      );
    },

    async isJudged({ execution_id, name, started_at }) {
      const at = Date.parse(started_at);
      const found = await lines({ name, since: iso(at), until: iso(at + 1_000) });
      return found.some((line) => line.execution_id === execution_id && line.classification !== undefined);
    },
  };
}

type ReadOnce = (executionId: string, maxTokens: number) => Promise<FinishedRun>;

function reader(call: CallServer, signal: AbortSignal) {
  const known = new Map<string, Promise<FinishedRun>>();

  async function read(executionId: string, maxTokens: number): Promise<FinishedRun> {
    const input = { execution_id: executionId, max_tokens: maxTokens };
    const {
      reason,
      userinterface_name: userinterface,
      attempts,
      steps,
      ...run
    } = await call("get_execution_status", input, statusSchema, signal);
    return {
      ...run,
      ...(reason && { reason }),
      ...(userinterface !== undefined && { userinterface }),
      ...(attempts && { attempts }),
      steps: steps.map(({ step, status, error }) => ({
        step,
        status,
        ...(error !== undefined && { error }),
      })),
    };
  }

  const readOnce: ReadOnce = (executionId, maxTokens) => {
    const found = known.get(executionId) ?? read(executionId, maxTokens);
    known.set(executionId, found);
    return found;
  };

  const lines = async (filter: Readonly<{ [name: string]: string }>): Promise<Line[]> =>
    (await call("get_execution_results", { ...filter, max_tokens: tokens.page }, pageSchema, signal))
      .executions;

  return { readOnce, lines };
}

/** With what they failed with, as far as so many of the newest are read. */
async function withCauses(found: readonly Line[], most: number, readOnce: ReadOnce): Promise<OtherRun[]> {
  const failed = found.filter(
    ({ status, flaky }) => status === "failed" || status === "error" || status === "timeout" || flaky,
  );
  const read = new Set(failed.slice(0, most));
  const runs: OtherRun[] = [];
  for (const line of found) {
    const { execution_id, name, status, device, started_at, classification } = line;
    const full = read.has(line) ? await readOnce(execution_id, tokens.failure) : undefined;
    const cause = full && causeOf(full);
    runs.push({
      ...{ execution_id, name, status, device, started_at },
      ...(full?.userinterface !== undefined && { userinterface: full.userinterface }),
      ...(classification && { classification }),
      ...(cause && { cause }),
      ...(full && isFlaky(full) && { flaky: true }),
    });
  }
  return runs;
}

const isFinished = ({ status }: Line): boolean => status !== "queued" && status !== "running";
const isTest = ({ kind }: Line): boolean => kind === "testcase" || kind === "script";
const iso = (ms: number): string => new Date(ms).toISOString();

function uniqueLines(lines: readonly Line[]): Line[] {
  const byId = new Map(lines.map((line) => [line.execution_id, line]));
  return [...byId.values()].sort((a, b) => Date.parse(b.started_at) - Date.parse(a.started_at));
}
