import { Argument, type Command } from "commander";
import { z } from "zod";
import { examples, withDaemonOptions } from "../commandOptions.ts";
import type { DaemonOptions } from "../options.ts";
import { done, type RunConnection } from "../run/connection.ts";
import { type ExitCode, exitCodes, type Terminal, table } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";

export const listed = ["devices", "apps", "tests", "runs"] as const;
export type Listed = (typeof listed)[number];

export type ListOptions = DaemonOptions & { json?: boolean | undefined };
type Fields = Readonly<Record<string, unknown>>;

type List = {
  tool: string;
  args: Fields;
  heads: readonly string[];
  /** The tool's reply, one row for each item. */
  rows(answer: unknown): string[][];
  /** What to do if the list is empty. */
  empty: string;
};

const text = z.union([z.string(), z.number()]).transform(String).default("");
const words = z
  .array(z.string())
  .default([])
  .transform((list) => list.join(", "));
const page = { max_tokens: 50_000 };

const lists: Readonly<Record<Listed, List>> = {
  devices: {
    tool: "list_hosts",
    args: {},
    heads: ["device", "model", "state", "status"],
    rows: (answer) => {
      const device = z.looseObject({ id: text, model: text, state: text, status: text });
      const hosts = z
        .looseObject({ hosts: z.array(z.looseObject({ devices: z.array(device) })) })
        .parse(answer).hosts;
      return hosts.flatMap(({ devices }) =>
        devices.map(({ id, model, state, status }) => [id, model, state, status]),
      );
    },
    empty: "No devices. labwright doctor says what is missing; devices are named in labwright.yaml.",
  },
  apps: {
    tool: "list_userinterfaces",
    args: page,
    heads: ["app", "models", "nodes", "edges", "project"],
    rows: (answer) => {
      const app = z.looseObject({ name: text, models: words, nodes: text, edges: text, project: text });
      const { userinterfaces } = z.looseObject({ userinterfaces: z.array(app) }).parse(answer);
      return userinterfaces.map((one) => [one.name, one.models, one.nodes, one.edges, one.project]);
    },
    empty: "No apps yet. Make one from a page: labwright init http://localhost:3000",
  },
  tests: {
    tool: "list_testcases",
    args: page,
    heads: ["test", "app", "tags", "inputs", "project"],
    rows: (answer) => {
      const fields = { name: text, userinterface_name: text, tags: words, inputs: words, project: text };
      const test = z.looseObject(fields);
      const { testcases } = z.looseObject({ testcases: z.array(test) }).parse(answer);
      return testcases.map((one) => [one.name, one.userinterface_name, one.tags, one.inputs, one.project]);
    },
    empty:
      "No tests yet. labwright init writes the first one; labwright keep makes one of what you did by hand.",
  },
  runs: {
    tool: "get_execution_results",
    args: { ...page, max_tokens: 4_000 },
    heads: ["run", "started (UTC)", "status", "kind", "name", "reason"],
    rows: (answer) => {
      const run = z.looseObject({
        ...{ execution_id: text, started_at: text, status: text, kind: text, name: text, reason: text },
        flaky: z.boolean().optional(),
      });
      const { executions } = z.looseObject({ executions: z.array(run) }).parse(answer);
      return executions.map(({ execution_id: id, started_at, status, kind, name, reason, flaky }) => {
        const ended = flaky ? "flaky" : status;
        return [id, started_at.replace("T", " ").slice(0, 19), ended, kind, name, reason];
      });
    },
    empty: "No runs yet. Run the tests of a folder: labwright run labwright",
  },
};

/** `labwright list <devices|apps|tests|runs>`: a table, or the tool's own answer as JSON. */
async function runList(
  what: Listed,
  { json, ...options }: ListOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { tool, args, heads, rows, empty } = lists[what];
  const answer = await withDaemon(
    options,
    terminal,
    { command: "list" },
    ({ call }: Pick<RunConnection, "call">) => done(call(tool, args, terminal.signal)),
  );
  if (json) {
    terminal.out(`${JSON.stringify(answer)}\n`);
    return exitCodes.passed;
  }
  const found = rows(answer);
  terminal.out(found.length === 0 ? `${empty}\n` : table(heads, found, terminal.columns));
  const { more } = z.looseObject({ more: z.number().default(0) }).parse(answer);
  if (more > 0) terminal.out(`${more} more: labwright call ${tool}\n`);
  return exitCodes.passed;
}

/** `list` and `tools`: what there is to use. */
export function addListCommands(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  withDaemonOptions(program.command("list"))
    .description("lists devices with their holders, apps, tests, or the latest runs")
    .addArgument(new Argument("<what>", "what to list").choices(listed))
    .option("--json", "as JSON")
    .addHelpText("after", examples("labwright list devices", "labwright list runs --json"))
    .action(async (what: Listed, given: DaemonOptions & { json?: boolean }) => {
      exit(await runList(what, given, terminal));
    });
  program
    .command("tools")
    .description("lists the tools of this build by skill, or says what one of them takes; needs no daemon")
    .argument("[name]", "a tool, for its arguments and an example")
    .addHelpText("after", examples("labwright tools", "labwright tools execute_testcase"))
    .action(async (name: string | undefined) => {
      const { runTools } = await import("./tools.ts");
      exit(runTools(name, terminal));
    });
}
