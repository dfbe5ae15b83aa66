import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { z } from "zod";
import { serve } from "../../fixtures/loopback.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import type { StdioServer } from "../stdioServer.ts";
import { type ApiRun, apiRun } from "./apiRuns.ts";
import { installPrism, startPrism } from "./prismServer.ts";

const folders = ["2.0", "3.0", "3.1"];
/** So that all findings of a run are shown. */
const operationsAtOnce = 8;

const listSchema = z.looseObject({ operations: z.array(z.string()), more: z.int().optional() });
/** What Prism really does wrong. `finding` is an expression for `<at>: <expected>; <found>`, all of it. */
const explainedSchema = z.array(
  z.strictObject({
    ...{ document: z.string(), fault: z.string(), operations: z.array(z.string()).min(1) },
    ...{ finding: z.string(), because: z.string() },
  }),
);

type Finding = { document: string; fault: string; operation: string; words: string };
type Tally = { operations: number; tried: number; requests: number; findings: Finding[] };

/** Every document of `@readme/oas-examples` that Prism serves. `BENCH_DOCUMENT=word` takes those with that word in their name. */
export async function measurePrism({ sides, note }: Bench): Promise<Measurement[]> {
  const program = await installPrism(sides.root);
  const own = join(sides.root, "test/bench/step13/explained.json");
  const explained = explainedSchema.parse(JSON.parse(await readFile(own, "utf8")));
  const config = await sides.newConfig({ limits: { requests_per_host_minute: 1_000_000 } });
  const host = sides.ours(await sides.newDataDir(), { config });
  const total: Tally = { operations: 0, tried: 0, requests: 0, findings: [] };
  try {
    await host.initialize();
    for (const { name, file } of await documents()) {
      const tally = await tryDocument(host, program, { name, file }, note);
      total.operations += tally.operations;
      total.tried += tally.tried;
      total.requests += tally.requests;
      total.findings.push(...tally.findings);
      if (tally.tried < tally.operations)
        note(`prism: ${name}: ${tally.tried} of ${tally.operations} operations tried`);
    }
  } finally {
    await host.end();
  }
  const isExplained = ({ document, fault, operation, words }: Finding) =>
    explained
      .filter((one) => one.document === document && one.fault === fault)
      .some(
        (one) => one.operations.includes(operation) && new RegExp(`^(?:${one.finding})$`, "s").test(words),
      );
  const falseAlarms = total.findings.filter((one) => !isExplained(one));
  for (const one of falseAlarms) note(`prism: false alarm: ${Object.values(one).join(" ")}`);
  note(`prism: ${total.requests} requests, ${total.findings.length} findings`);
  return [
    { id: "prism.tried", ours: total.tried / total.operations, runs: total.operations },
    { id: "prism.false", ours: falseAlarms.length / total.operations, runs: total.operations },
  ];
}

async function documents(): Promise<{ name: string; file: string }[]> {
  const root = dirname(createRequire(import.meta.url).resolve("@readme/oas-examples/package.json"));
  const word = process.env.BENCH_DOCUMENT ?? "";
  const all = folders.map(async (folder) => {
    const names = await readdir(join(root, folder, "json"));
    return names
      .sort()
      .map((name) => ({ name: `${folder}/${name}`, file: join(root, folder, "json", name) }));
  });
  return (await Promise.all(all)).flat().filter(({ name }) => name.endsWith(".json") && name.includes(word));
}

async function tryDocument(
  host: StdioServer,
  program: string,
  { name, file }: { name: string; file: string },
  note: Bench["note"],
): Promise<Tally> {
  const tally: Tally = { operations: 0, tried: 0, requests: 0, findings: [] };
  const prism = await startPrism(program, file);
  if (!prism) {
    note(`prism: it does not serve ${name}`);
    return tally;
  }
  try {
    const ids = await imported(host, name, file);
    for (let at = 0; at < ids.length; at += operationsAtOnce) {
      const operations = ids.slice(at, at + operationsAtOnce);
      for (const run of await allOf(host, { api: name, base_url: prism.url }, operations)) {
        if (run.tried === undefined) throw new Error(`${name}: ${run.reason?.message}`);
        tally.operations += run.operations ?? 0;
        tally.tried += run.tried;
        tally.requests += run.requests ?? 0;
        tally.findings.push(...run.findings.map((one) => findingOf(name, one)));
      }
    }
    if (prism.crashes() > 0)
      note(`prism: it crashed ${prism.crashes()} times with ${name}, and was started again`);
    return tally;
  } finally {
    prism.end();
  }
}

const findingOf = (
  document: string,
  { fault, operation, at, expected, found }: ApiRun["findings"][number],
): Finding => ({ document, fault, operation, words: `${at}: ${expected}; ${found}` });

/** A run of the operations, or of halves of them where one does not show all its findings. */
async function allOf(host: StdioServer, args: object, operations: readonly string[]): Promise<ApiRun[]> {
  const run = await apiRun(host, { ...args, operations });
  const half = Math.ceil(operations.length / 2);
  if (run.cut.findings === undefined) return [run];
  if (operations.length < 2) throw new Error(`${run.execution_id} has more findings than it shows`);
  return [
    ...(await allOf(host, args, operations.slice(0, half))),
    ...(await allOf(host, args, operations.slice(half))),
  ];
}

/** The ids of the operations. */
async function imported(host: StdioServer, name: string, file: string): Promise<string[]> {
  const text = await readFile(file);
  const site = await serve((_request, response) => response.end(text));
  try {
    await host.call("import_api_spec", { source: `${site.url}/document.json`, name });
  } finally {
    await site.close();
  }
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const { operations, more } = listSchema.parse(
      (await host.call("list_api_operations", { api: name, page })).structured,
    );
    ids.push(...operations.map((line) => /^(.*?): [A-Z]+ /.exec(line)?.[1] ?? line));
    if (more === undefined) return ids;
  }
}
