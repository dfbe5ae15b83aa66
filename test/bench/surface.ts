import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { z } from "zod";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import type { ListedTool } from "./stdioServer.ts";

/** Everything that theirs can be asked for. */
const theirOptions = ["--caps", "vision,pdf,devtools"];

/** As a model is sent them: name, description and input schema. */
export const tokensOf = (tools: readonly ListedTool[]): number =>
  tools
    .map(({ name, description, inputSchema }) => ({
      ...{ name, description },
      input_schema: withoutDialect(inputSchema),
    }))
    .reduce((sum, tool) => sum + countTokens(JSON.stringify(tool)), 0);

/** Hosts leave the dialect out, whoever wrote it. */
export function withoutDialect(schema: unknown): object {
  if (typeof schema !== "object" || schema === null) return {};
  const { $schema: _, ...rest } = { $schema: undefined, ...schema };
  return rest;
}

export const catalogueSchema = z.object({
  skills: z.array(z.object({ name: z.string(), system_prompt: z.string(), tools: z.array(z.string()) })),
});

/** What the tools cost a model: all of them, and those of each skill with its prompt. */
export async function measureSurface(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  const servers = { ours: sides.ours(dataDir), theirs: sides.theirs(...theirOptions) };
  try {
    for (const server of Object.values(servers)) await server.initialize();
    const tools = await servers.ours.listTools();
    const others = await servers.theirs.listTools();
    note(`surface: ours ${tools.length} tools, @playwright/mcp ${theirOptions.join(" ")} ${others.length}`);
    const skills = await skillTokens(sides.root, tools);
    return [
      { id: "surface.all", ours: tokensOf(tools), theirs: tokensOf(others), runs: 1 },
      { id: "surface.skill", ours: Math.max(...skills), runs: skills.length },
    ];
  } finally {
    for (const server of Object.values(servers)) await server.end();
    await sides.stopDaemon(dataDir);
  }
}

async function skillTokens(root: string, tools: readonly ListedTool[]): Promise<number[]> {
  const file = join(root, "mcp-server", "dist", "catalogue.json");
  const { skills } = catalogueSchema.parse(JSON.parse(await readFile(file, "utf8")));
  return skills.map((skill) => {
    const own = tools.filter(({ name }) => skill.tools.includes(name));
    return countTokens(skill.system_prompt) + tokensOf(own);
  });
}
