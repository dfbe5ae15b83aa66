import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { z } from "zod";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { percentile } from "./statistics.ts";
import type { ListedTool } from "./stdioServer.ts";

/** Everything that theirs can be asked for. */
const theirOptions = ["--caps", "vision,pdf,devtools"];
const listings = { rounds: 200, warmUps: 20 };

/** As a model is sent them: name, description and input schema. */
const tokensOf = (tools: readonly ListedTool[]): number =>
  sum(
    tools.map(({ name, description, inputSchema }) =>
      countTokens(JSON.stringify({ name, description, input_schema: withoutDialect(inputSchema) })),
    ),
  );

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Hosts leave the dialect out, whoever wrote it. */
export function withoutDialect(schema: unknown): object {
  if (typeof schema !== "object" || schema === null) return {};
  const { $schema: _, ...rest } = { $schema: undefined, ...schema };
  return rest;
}

const catalogueSchema = z.object({
  skills: z.array(z.object({ name: z.string(), system_prompt: z.string(), tools: z.array(z.string()) })),
});

/** What the tools cost a model, all of them and by skill, and what a listing costs a host. */
export async function measureSurface(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  const server = sides.ours(dataDir);
  const others = [
    { name: `@playwright/mcp ${theirOptions.join(" ")}`, side: sides.theirs(...theirOptions) },
    { name: "chrome-devtools-mcp", side: sides.devTools() },
  ];
  try {
    await server.initialize();
    const tools = await server.listTools();
    const theirs: number[] = [];
    for (const { name, side } of others) {
      await side.initialize();
      const listed = await side.listTools();
      theirs.push(tokensOf(listed));
      note(`surface: ${name}: ${listed.length} tools, ${tokensOf(listed)} tokens`);
    }
    note(`surface: ours: ${tools.length} tools, ${tokensOf(tools)} tokens`);
    const skills = await skillTokens(sides.root, tools);
    const times: number[] = [];
    for (let round = -listings.warmUps; round < listings.rounds; round++) {
      const start = performance.now();
      await server.listTools();
      if (round >= 0) times.push(performance.now() - start);
    }
    return [
      { id: "surface.all", ours: tokensOf(tools), theirs: sum(theirs), runs: 1 },
      { id: "surface.skill", ours: Math.max(...skills.values()), runs: skills.size },
      { id: "surface.run_testcase", ours: skills.get("run-testcase") ?? Number.NaN, runs: 1 },
      { id: "surface.list_bridge", ours: percentile(times, 0.95), runs: listings.rounds },
    ];
  } finally {
    await server.end();
    for (const { side } of others) await side.end();
    await sides.stopDaemon(dataDir);
  }
}

/** System prompt and tools of each skill. */
async function skillTokens(root: string, tools: readonly ListedTool[]): Promise<Map<string, number>> {
  const file = join(root, "mcp-server", "dist", "catalogue.json");
  const { skills } = catalogueSchema.parse(JSON.parse(await readFile(file, "utf8")));
  return new Map(
    skills.map((skill) => {
      const own = tools.filter(({ name }) => skill.tools.includes(name));
      return [skill.name, countTokens(skill.system_prompt) + tokensOf(own)];
    }),
  );
}
