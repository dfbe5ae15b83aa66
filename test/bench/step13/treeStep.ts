import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { z } from "zod";
import { startPostgres } from "../../fixtures/postgres.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { alternate, median, timed } from "../statistics.ts";

const steps = 10;
const options = { rounds: 31, warmUps: 5 };
const query = "select count(*) as n from generate_series(1, 2000) i";

const names = Array.from({ length: steps }, (_, at) => `step_${at + 1}`);
const tree = {
  entry_point: names[0],
  steps: Object.fromEntries(
    names.map((name, at) => {
      const next = names[at + 1] ?? null;
      const conclusion = next === null ? { root_cause: "The last step" } : { partial_finding: name };
      const decision = { condition: "result.n == 2000", confidence: 0.9, conclusion, next_step: next };
      return [
        name,
        {
          name,
          action: { type: "query", source: "postgres", query_template: query },
          decisions: { decision },
        },
      ];
    }),
  ),
};
const skill = {
  name: "bench-tree",
  version: "1.0.0",
  description: "Goes through ten queries.",
  triggers: ["bench the tree"],
  system_prompt: "Investigate.",
  tools: ["start_investigation", "resume_investigation"],
  timeout_seconds: 60,
  data_sources: { postgres: { credentials: "env:BENCH_DATABASE" } },
  human_handoff: { triggers: { stuck_after_steps: { max_steps: steps } } },
};

const viewSchema = z.object({ status: z.literal("done"), steps: z.literal(steps) });

/** Ten steps of a tree, each a query to PostgreSQL, by one call of a host; next to the same queries by their driver alone. */
export async function measureTreeSteps({ sides, note }: Bench): Promise<Measurement[]> {
  const server = await startPostgres();
  const dataDir = await sides.newDataDir();
  const home = join(dataDir, "skills", skill.name);
  await mkdir(home, { recursive: true });
  const url = await server.newDatabase();
  const address = join(sides.scratch, "bench-database");
  for (const [file, text] of [
    [join(home, "skill.yaml"), JSON.stringify(skill)],
    [join(home, "decision_tree.yaml"), JSON.stringify(tree)],
    [address, url],
  ] as const)
    await writeFile(file, text);
  const config = await sides.newConfig({ secrets: { BENCH_DATABASE: { file: address } } });
  const host = sides.ours(dataDir, { config });
  const client = new pg.Client({ connectionString: url });
  try {
    await host.initialize();
    await client.connect();
    const investigate = async () => {
      const { ms, result } = await timed(() => host.call("start_investigation", { skill: skill.name }));
      viewSchema.parse(result.structured);
      return ms;
    };
    const ask = async () => {
      const all = async () => {
        for (let count = 0; count < steps; count++) await client.query(query);
      };
      return (await timed(all)).ms;
    };
    const [ours = [], alone = []] = await alternate([investigate, ask], options);
    note(`tree: a step ${median(ours) / steps} ms, its query alone ${median(alone) / steps} ms`);
    const over = (median(ours) - median(alone)) / steps;
    return [{ id: "tree.step", ours: over, runs: ours.length }];
  } finally {
    await client.end();
    await host.end();
    await sides.stopDaemon(dataDir);
    await server.stop();
  }
}
