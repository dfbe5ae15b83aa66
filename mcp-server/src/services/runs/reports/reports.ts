import { randomUUID } from "node:crypto";
import type { Comparison, PictureChoice, ReportFormat, RunView } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { EventRows, RunRecords } from "../../../storage/index.ts";
import type {
  ArtifactRef,
  ArtifactStore,
  CallContext,
  Clock,
  ExecutionService,
  Secrets,
} from "../../ports.ts";
import { rowRunsOf, summarize, testcaseOf } from "../judgement/facts.ts";
import type { JudgedRun, JudgementService } from "../judgement/index.ts";
import { againOf } from "./again.ts";
import { type ComparedWith, comparison } from "./compared.ts";
import { ctrfReport } from "./ctrf.ts";
import { htmlReport, showsHistory } from "./html.ts";
import { junitReport } from "./junit.ts";
import { shrink, withPictures } from "./pictures.ts";
import { mostSteps, recordingsOf, runViewOf, withShownPictures } from "./runView.ts";
import { type StatusView, statusView } from "./status.ts";
import type { CheckedRequirement, Picture, ReportEntry, ReportHead, ReportSummary } from "./types.ts";

export type ReportService = {
  /** Waits for the end at most `waitMs`. Of too many steps: failed ones first, then the latest; shown in their order. */
  status(
    executionId: string,
    options: { waitMs: number; maxTokens: number },
    context: CallContext,
  ): Promise<StatusView>;
  /**
   * A run for people, without secrets: the steps behind `after` (an index; -1 for all), at most 500. Waits up to `waitMs` for the end.
   * Throws EXECUTION_NOT_FOUND.
   */
  view(
    executionId: string,
    options: { after: number; waitMs: number },
    context: CallContext,
  ): Promise<RunView>;
  /**
   * A run compared with the newest earlier run of its test that passed, without secrets: one on the same device before others, of the newest 100
   * runs. Throws EXECUTION_NOT_FOUND.
   */
  compare(executionId: string): Promise<Comparison>;
  /**
   * The first 20 runs as `view` has them, with pictures in them: as data: URLs, those of failed steps first, 1 MB in all. Steps that
   * passed have neither input nor output. Throws EXECUTION_NOT_FOUND.
   */
  shown(executionIds: readonly string[], context: CallContext): Promise<RunView[]>;
  /**
   * Stores a report of one or more executions, in the order given. `judgement` is that of a single test; `pictures` is for
   * the page; `notRun` are tests of the same run that were not started, and why they could not be; `files` are videos and traces by the
   * paths from the report to them; `groups` are the names of a matrix; `notes` are lines of a review for
   * the page. Throws EXECUTION_NOT_FOUND, ARTIFACT_STORE_FULL.
   */
  create(
    executionIds: readonly string[],
    format: ReportFormat,
    pictures?: PictureChoice,
    more?: {
      notRun?: readonly NotRun[];
      files?: readonly { execution_id: string; file: string }[];
      groups?: readonly { execution_id: string; group: string }[];
      notes?: readonly string[];
    },
  ): Promise<{ artifact: ArtifactRef; summary: ReportSummary; judgement?: JudgedRun }>;
};

export type ReportDependencies = ComparedWith & {
  records: Pick<RunRecords, "marksBefore">;
  executions: Pick<ExecutionService, "get" | "wait">;
  judgements: JudgementService;
  /** What these test cases cover; unknown ones cover nothing. */
  requirementsOf(
    tests: readonly { name: string; project: string }[],
  ): Promise<readonly (CheckedRequirement & { testcase: string; project: string })[]>;
  eventRows: Pick<EventRows, "ofType">;
  artifacts: ArtifactStore;
  secrets: Secrets;
  clock: Clock;
};

const mostShown = 20;

type NotRun = { name: string; error?: string | undefined; group?: string | undefined };

const skippedTest = ({ name, error, group }: NotRun) => ({
  name,
  ...(group !== undefined && { group }),
  reason: error ?? "The run ended before this test was started.",
  isError: error !== undefined,
});

export function createReports(deps: ReportDependencies): ReportService {
  const { executions, judgements, artifacts, secrets, clock } = deps;
  const picture = pictureOf(artifacts);

  /** A run for each row stands in a report as these runs; as itself too where none of them says how it ended. */
  async function withRowRuns(id: string): Promise<string[]> {
    const { execution, steps } = await executions.get(id);
    const rows = rowRunsOf(steps);
    const says = rows.some(({ status }) => status === execution.status);
    return [...rows.map((row) => row.execution_id), ...(says ? [] : [id])];
  }

  async function withRequirements(entries: readonly ReportEntry[]): Promise<ReportEntry[]> {
    const testOf = ({ execution }: ReportEntry) => {
      const name = execution.kind === "testcase" ? testcaseOf(execution) : undefined;
      return name === undefined ? undefined : { name, project: execution.project ?? "" };
    };
    const keyed = (test: ReturnType<typeof testOf>) => (test ? [[JSON.stringify(test), test] as const] : []);
    const tests = new Map(entries.flatMap((entry) => keyed(testOf(entry))));
    const links = secrets.mask(await deps.requirementsOf([...tests.values()]));
    return entries.map((entry) => {
      const { name, project } = testOf(entry) ?? {};
      const isOwn = (link: (typeof links)[number]) => link.testcase === name && link.project === project;
      return { ...entry, requirements: links.filter(isOwn) };
    });
  }

  const view = viewer(deps);
  return {
    async shown(executionIds, context) {
      const first = executionIds.slice(0, mostShown);
      const runs = await Promise.all(first.map((id) => view(id, { after: -1, waitMs: 0 }, context)));
      return withShownPictures(runs, picture);
    },
    async status(executionId, { waitMs, maxTokens }, context) {
      const now = await executions.wait(executionId, waitMs, context);
      return statusView(await executions.get(executionId), now, maxTokens);
    },
    view,
    compare: (executionId) => comparison(executionId, deps),
    async create(
      executionIds,
      format,
      pictureChoice = "failed",
      { notRun = [], files = [], groups = [], notes = [] } = {},
    ) {
      const runs: Omit<ReportEntry, "pictures">[] = [];
      for (const id of executionIds) {
        const own = files.filter(({ execution_id }) => execution_id === id).map(({ file }) => file);
        const group = groups.find(({ execution_id }) => execution_id === id)?.group;
        const more = { pictureChoice, files: own, ...(group !== undefined && { group }) };
        for (const run of await withRowRuns(id))
          runs.push({ ...secrets.mask(await executions.get(run)), ...more });
      }
      const isPage = format === "html";
      const entries = await withPictures(runs, async (uri) => (isPage ? picture(uri) : undefined));
      const shown = isPage ? await withHistory(await withRequirements(entries), deps) : entries;
      const skipped = secrets.mask(notRun.map(skippedTest));
      const head = {
        id: randomUUID(),
        generatedAt: new Date(clock.now()).toISOString(),
        skipped,
        notes: secrets.mask(notes),
      };
      const { mimeType, render } = renderers[format];
      const artifact = await artifacts.put(Buffer.from(render(shown, head), "utf8"), mimeType);
      const [only = ""] = executionIds;
      const [judgement] = executionIds.length === 1 ? await judgements.of(only) : [];
      return { artifact, summary: summarize(entries, skipped), ...(judgement && { judgement }) };
    },
  };
}

async function withHistory(
  entries: readonly ReportEntry[],
  { records }: Pick<ReportDependencies, "records">,
): Promise<ReportEntry[]> {
  const shown = entries.filter((entry) => showsHistory(entry, entries.length));
  const marks = await records.marksBefore(shown.map(({ execution }) => execution.id));
  return entries.map((entry) => {
    const history = marks.get(entry.execution.id);
    return { ...entry, ...(history && { history }) };
  });
}

const pictureOf =
  (artifacts: ArtifactStore) =>
  async (uri: string): Promise<Picture | undefined> => {
    try {
      const file = await artifacts.get(uri.replace("artifact://", ""));
      return file.mimeType.startsWith("image/") ? await shrink(file) : undefined;
    } catch (error) {
      if (error instanceof ToolError && error.code === "ARTIFACT_NOT_FOUND") return undefined;
      throw error;
    }
  };

const viewer =
  ({ executions, secrets, eventRows }: ReportDependencies): ReportService["view"] =>
  async (executionId, { after, waitMs }, context) => {
    const { doing } = await executions.wait(executionId, waitMs, context);
    const { execution, steps } = await executions.get(executionId);
    const left = steps.filter(({ index }) => index > after);
    const more = Math.max(0, left.length - mostSteps);
    const { doing: now, ...shown } = secrets.mask({ execution, doing, steps: left.slice(0, mostSteps) });
    const again = againOf(execution, secrets);
    const recordings = await recordingsOf(execution, eventRows);
    return runViewOf(shown, { doing: now, total: steps.length, more, again, recordings });
  };

type Renderer = { mimeType: string; render(entries: readonly ReportEntry[], head: ReportHead): string };

export const renderers: Readonly<Record<ReportFormat, Renderer>> = {
  html: { mimeType: "text/html", render: htmlReport },
  junit: { mimeType: "application/xml", render: junitReport },
  ctrf: { mimeType: "application/json", render: ctrfReport },
};
