import { randomUUID } from "node:crypto";
import { ToolError } from "../../errors.ts";
import type { ArtifactRef, ArtifactStore, CallContext, Clock, ExecutionService, Secrets } from "../ports.ts";
import { ctrfReport } from "./ctrf.ts";
import { summarize } from "./facts.ts";
import { htmlReport } from "./html.ts";
import { junitReport } from "./junit.ts";
import { type StatusView, statusView } from "./status.ts";
import type { Picture, ReportEntry, ReportFormat, ReportHead, ReportSummary } from "./types.ts";

/** Pictures beyond this are left out of an HTML file, and it says so; browsers open larger ones badly. */
const maxPictureBytes = 64 * 1024 * 1024;

export type ReportService = {
  /**
   * Where a run stands, after waiting for its end at most `waitMs`. Steps that fit into `maxTokens`: those that did not
   * pass before those that did, the latest before earlier ones; shown in their order.
   */
  status(
    executionId: string,
    options: { waitMs: number; maxTokens: number },
    context: CallContext,
  ): Promise<StatusView>;
  /** Stores a report of one or more executions, in the order given. Throws EXECUTION_NOT_FOUND, ARTIFACT_STORE_FULL. */
  create(
    executionIds: readonly string[],
    format: ReportFormat,
  ): Promise<{ artifact: ArtifactRef; summary: ReportSummary }>;
};

export type ReportDependencies = {
  executions: Pick<ExecutionService, "get" | "wait">;
  artifacts: ArtifactStore;
  secrets: Secrets;
  clock: Clock;
};

type Format = { mimeType: string; render(entries: readonly ReportEntry[], head: ReportHead): string };

const formats: Readonly<Record<ReportFormat, Format>> = {
  html: { mimeType: "text/html", render: htmlReport },
  junit: { mimeType: "application/xml", render: junitReport },
  ctrf: { mimeType: "application/json", render: ctrfReport },
};

/** Makes reports from what is stored. */
export function createReports({ executions, artifacts, secrets, clock }: ReportDependencies): ReportService {
  async function picture(uri: string): Promise<Picture | undefined> {
    try {
      return await artifacts.get(uri.replace("artifact://", ""));
    } catch (error) {
      if (error instanceof ToolError && error.code === "ARTIFACT_NOT_FOUND") return undefined;
      throw error;
    }
  }

  async function entryOf(id: string, format: ReportFormat, budget: { left: number }): Promise<ReportEntry> {
    const { execution, steps } = secrets.mask(await executions.get(id));
    const pictures = new Map<string, Picture>();
    if (format !== "html") return { execution, steps, pictures };
    const shown = steps
      .flatMap((step) => step.artifacts)
      .filter(({ mime_type }) => mime_type.startsWith("image/"));
    for (const uri of new Set(shown.map((artifact) => artifact.uri))) {
      const found = budget.left > 0 ? await picture(uri) : undefined;
      if (!found) continue;
      budget.left -= found.bytes.byteLength;
      pictures.set(uri, found);
    }
    return { execution, steps, pictures };
  }

  return {
    async status(executionId, { waitMs, maxTokens }, context) {
      // Whoever only looks must not stop the run by looking away.
      if (waitMs > 0)
        await executions.wait(executionId, waitMs, { ...context, signal: new AbortController().signal });
      return statusView(await executions.get(executionId), maxTokens);
    },

    async create(executionIds, format) {
      const entries: ReportEntry[] = [];
      const budget = { left: maxPictureBytes };
      for (const id of executionIds) entries.push(await entryOf(id, format, budget));
      const head = { id: randomUUID(), generatedAt: new Date(clock.now()).toISOString() };
      const { mimeType, render } = formats[format];
      const artifact = await artifacts.put(Buffer.from(render(entries, head), "utf8"), mimeType);
      return { artifact, summary: summarize(entries) };
    },
  };
}
