import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import type { Backend } from "./backend.ts";

type Offered = {
  name: string;
  template: string;
  title: string;
  description: string;
  mimeType?: string;
  /** The variables that hosts can complete. */
  variables: readonly string[];
  ttlMs: number;
};

/** Resources of the daemon. Private: only clients with the token may read them. */
const offered: readonly Offered[] = [
  {
    name: "artifact",
    template: "artifact://{sha256}",
    title: "Artifact",
    description: "A file that a tool made: a screenshot, a report. Named by its sha256, so it never changes.",
    variables: ["sha256"],
    ttlMs: 3_600_000,
  },
  {
    name: "report",
    template: "report://{execution_id}",
    title: "Report",
    description: "How a run ended, its steps and what its failed checks found. The latest are listed.",
    mimeType: "text/plain",
    variables: [],
    ttlMs: 0,
  },
  {
    name: "reference",
    template: "reference://{sha256}",
    title: "Reference picture",
    description: "What an image check compares with, as list_references names it.",
    mimeType: "image/png",
    variables: [],
    ttlMs: 3_600_000,
  },
  {
    name: "tree",
    template: "tree://{userinterface}",
    title: "Navigation tree",
    description: "An app's map in lines: each node with where its edges lead.",
    mimeType: "text/plain",
    variables: ["userinterface"],
    ttlMs: 0,
  },
  {
    name: "node",
    template: "tree://{userinterface}/{node}",
    title: "Node",
    description: "One node of an app's tree: its checks, and how reliably it was reached.",
    mimeType: "application/json",
    variables: ["userinterface", "node"],
    ttlMs: 0,
  },
  {
    name: "events",
    template: "events://{after}",
    title: "Events",
    description:
      "Events after event `after` (0: from the first), in order, with the `next` address. Subscribe to be notified of more.",
    mimeType: "application/json",
    variables: [],
    ttlMs: 0,
  },
];

export function registerResources(mcp: McpServer, backend: Backend): void {
  const list = async () => ({ resources: [...(await backend.listed())] });
  for (const { name, template, variables, ttlMs, ...metadata } of offered) {
    const completions = variables.map((variable) => [
      variable,
      async (typed: string, context?: { arguments?: Record<string, string> }) => [
        ...(await backend.complete({ template, variable, typed, given: context?.arguments ?? {} })),
      ],
    ]);
    mcp.registerResource(
      name,
      new ResourceTemplate(template, {
        list: name === "report" ? list : undefined,
        complete: Object.fromEntries(completions),
      }),
      { ...metadata, cacheHint: { ttlMs, cacheScope: "private" } },
      (uri, _variables, context) => backend.readResource(uri.href, context.mcpReq.signal),
    );
  }
}
