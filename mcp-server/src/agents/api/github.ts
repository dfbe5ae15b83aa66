import { z } from "zod";

const text = z.string().max(500).nullish();
const runSchema = z.object({
  id: z.number().nullish(),
  name: text,
  conclusion: text,
  head_branch: text,
  head_sha: text,
  html_url: text,
  url: text,
  app: z.object({ name: text }).nullish(),
});
const deliverySchema = z.object({
  action: text,
  repository: z.object({ full_name: text }).nullish(),
  workflow_run: runSchema.optional(),
  check_suite: runSchema.optional(),
});

/** What to publish of a delivery, or why nothing is. */
export type GithubEvent =
  | { type: "webhook.ci_failure"; payload: Record<string, unknown> }
  | { ignored: string };

/** A failed run of a workflow, or of a suite of checks, is a failure of the CI; all else is nothing to us. Pure. */
export function githubEvent(kind: string, body: unknown): GithubEvent {
  const { data } = deliverySchema.safeParse(body);
  const run = kind === "workflow_run" || kind === "check_suite" ? data?.[kind] : undefined;
  if (data?.action !== "completed" || run?.conclusion !== "failure")
    return { ignored: "Only a workflow_run or check_suite that completed with a failure is published." };
  const payload = {
    provider: "github",
    kind,
    id: run.id ?? null,
    repository: data.repository?.full_name ?? null,
    name: run.name ?? run.app?.name ?? null,
    branch: run.head_branch ?? null,
    commit: run.head_sha ?? null,
    url: run.html_url ?? run.url ?? null,
  };
  return { type: "webhook.ci_failure", payload };
}
