import { z } from "zod";

const short = z.string().max(500).nullish();
const repository = z.object({ full_name: short }).nullish();
const workflowSchema = z.object({
  action: short,
  repository,
  workflow_run: z.object({
    id: z.number().nullish(),
    name: short,
    conclusion: short,
    head_branch: short,
    head_sha: short,
    html_url: short,
  }),
});
const suiteSchema = z.object({
  action: short,
  repository,
  check_suite: z.object({
    id: z.number().nullish(),
    conclusion: short,
    head_branch: short,
    head_sha: short,
    url: short,
    app: z.object({ name: short }).nullish(),
  }),
});

/** What to publish of a delivery, or why nothing is. */
export type GithubEvent =
  | { type: "webhook.ci_failure"; payload: Record<string, unknown> }
  | { ignored: string };

/** A failed run of a workflow, or of a suite of checks, is a failure of the CI; all else is nothing to us. Pure. */
export function githubEvent(event: string, body: unknown): GithubEvent {
  if (event === "workflow_run") {
    const { data } = workflowSchema.safeParse(body);
    return data ? finished(event, data, data.workflow_run, data.workflow_run) : unreadable(event);
  }
  if (event === "check_suite") {
    const { data } = suiteSchema.safeParse(body);
    const name = data?.check_suite.app?.name;
    const url = data?.check_suite.url;
    return data ? finished(event, data, data.check_suite, { name, html_url: url }) : unreadable(event);
  }
  return {
    ignored: `GitHub's ${JSON.stringify(event.slice(0, 60))} is none of workflow_run and check_suite.`,
  };
}

type Text = string | null | undefined;

function finished(
  kind: string,
  delivery: { action?: Text; repository?: { full_name?: Text } | null | undefined },
  run: { id?: number | null | undefined; conclusion?: Text; head_branch?: Text; head_sha?: Text },
  shown: { name?: Text; html_url?: Text },
): GithubEvent {
  if (delivery.action !== "completed") return { ignored: `The ${kind} has not ended.` };
  if (run.conclusion !== "failure") return { ignored: `The ${kind} ended, but not with a failure.` };
  const payload = {
    provider: "github",
    kind,
    id: run.id ?? null,
    repository: delivery.repository?.full_name ?? null,
    name: shown.name ?? null,
    branch: run.head_branch ?? null,
    commit: run.head_sha ?? null,
    url: shown.html_url ?? null,
  };
  return { type: "webhook.ci_failure", payload };
}

const unreadable = (event: string): GithubEvent => ({
  ignored: `The ${event} has not the fields that GitHub's have.`,
});
