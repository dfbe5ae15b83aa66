import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { z } from "zod";
import { type DemoModel, readModel } from "#mcp-server/cli/demo/model.ts";
import { serveTodomvc } from "#mcp-server/cli/demo/todomvc.ts";
import { openSides } from "../bench/sides.ts";
import type { StdioServer } from "../bench/stdioServer.ts";

const tableSchema = z.strictObject({
  /** Implementations that no run takes, each with its reason. */
  left_out: z.record(z.string(), z.string()),
  /** By implementation and test case: a verdict other than passed, and what in the implementation's source makes it so. */
  verdicts: z.record(
    z.string(),
    z.record(
      z.string(),
      z.strictObject({
        verdict: z.enum(["failed", "blocked", "error"]),
        source: z.string(),
        because: z.string(),
      }),
    ),
  ),
});
type VerdictTable = z.output<typeof tableSchema>;

const runSchema = z.looseObject({
  execution_id: z.string(),
  status: z.string(),
  reason: z.looseObject({ message: z.string() }).optional(),
  failed_step: z.looseObject({ label: z.string() }).optional(),
});

type Verdict = { implementation: string; testcase: string; status: string; found: string };

/** Name and path of each implementation that has a page as it comes from npm. */
async function implementationsIn(folder: string): Promise<{ name: string; path: string }[]> {
  const pages = ["index.html", "dist/index.html"];
  return (await readdir(folder)).toSorted().flatMap((name) => {
    const page = pages.find((file) => existsSync(join(folder, name, file)));
    return page === undefined ? [] : [{ name, path: `/examples/${name}/${page}` }];
  });
}

async function runTestcase(server: StdioServer, testcase: string, userinterface: string) {
  let args: Record<string, unknown> = { testcase, userinterface_name: userinterface };
  for (;;) {
    const reply = await server.call("execute_testcase", args, { mayFail: true });
    if (reply.isError) return { status: "error", found: reply.text.slice(0, 300) };
    const run = runSchema.parse(reply.structured);
    if (run.status !== "running" && run.status !== "queued")
      return {
        status: run.status,
        found: [run.failed_step?.label, run.reason?.message].filter(Boolean).join(": "),
      };
    args = { testcase, execution_id: run.execution_id };
  }
}

/** What the table says of a verdict that is not as expected; undefined where it is. */
function disagreement(
  table: VerdictTable,
  { implementation, testcase, status }: Verdict,
): string | undefined {
  const known = table.verdicts[implementation]?.[testcase];
  if (status === (known?.verdict ?? "passed")) return undefined;
  return known ? `the table has ${known.verdict}: ${known.because}` : "the table has passed";
}

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

type Chosen = { name: string; path: string };
type Stage = {
  model: DemoModel;
  table: VerdictTable;
  urlOf(path: string): string;
  /** What nobody has taken yet; each server takes the next. */
  left: Chosen[];
};

/** Prints each verdict as it comes; gives how many there were and how many were those of the table. */
async function runLeft(
  server: StdioServer,
  { model, table, urlOf, left }: Stage,
): Promise<{ count: number; asInTable: number }> {
  const told = { count: 0, asInTable: 0 };
  let withTestcases = true;
  for (let one = left.shift(); one !== undefined; one = left.shift()) {
    const userinterface = `todomvc-${one.name}`;
    const yaml = model.yamlFor({ userinterface, url: urlOf(one.path), withTestcases });
    withTestcases = false;
    await server.call("import_userinterface", { yaml });
    for (const testcase of model.testcases) {
      const run = await runTestcase(server, testcase, userinterface);
      const verdict = { implementation: one.name, testcase, ...run };
      const wrong = disagreement(table, verdict);
      told.count += 1;
      told.asInTable += wrong === undefined ? 1 : 0;
      print(verdictLine(verdict, wrong));
    }
  }
  return told;
}

function verdictLine(
  { implementation, testcase, status, found }: Verdict,
  wrong: string | undefined,
): string {
  const why = status === "passed" ? "" : found.replace(/\s+/g, " ").slice(0, 200);
  const unexpected = wrong === undefined ? "" : `UNEXPECTED: ${wrong}`;
  return [implementation, testcase, status, unexpected, why].filter(Boolean).join("  ");
}

/** `--only a,b` chooses implementations. Gives 0 when every verdict is that of the committed table. */
export async function main({ root, args }: { root: string; args: readonly string[] }): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { only: { type: "string" } } });
  const only = values.only?.split(",");
  const text = await readFile(join(root, "test", "todomvc", "verdicts.yaml"), "utf8");
  const table = tableSchema.parse(parse(text));
  const resolved = createRequire(join(root, "package.json")).resolve("todomvc/package.json");
  const all = await implementationsIn(join(dirname(resolved), "examples"));
  const isChosen = (name: string) => only?.includes(name) ?? table.left_out[name] === undefined;
  const sides = await openSides(root);
  const app = await serveTodomvc();
  // A failed check waits for most of its time, so two browsers run beside each other.
  const servers = [sides.ours(await sides.newDataDir()), sides.ours(await sides.newDataDir())];
  try {
    const left = all.filter(({ name }) => isChosen(name));
    const model = await readModel(join(root, "mcp-server"));
    const told = await Promise.all(
      servers.map(async (server) => {
        await server.initialize();
        return runLeft(server, { model, table, urlOf: app.url, left });
      }),
    );
    const [count, asInTable] = [sum(told.map((one) => one.count)), sum(told.map((one) => one.asInTable))];
    for (const [name, reason] of Object.entries(table.left_out)) print(`left out: ${name}: ${reason}`);
    print(`verdicts as in the table: ${asInTable} of ${count}`);
    return asInTable === count ? 0 : 1;
  } finally {
    for (const server of servers) await server.end();
    await app.close();
    await sides.close();
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
