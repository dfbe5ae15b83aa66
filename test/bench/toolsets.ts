import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { toolsetTokens } from "../fixtures/messagesApi/tokens.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { catalogueSchema, tokensOf } from "./surface.ts";

/** The skill that drives a device by hand, whatever it shows. */
const driving = "control-device";
/** As a request names it. What the API adds of its own to describe it is not published, so that it counts as nothing. */
const searchTool = { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" };

/**
 * Tokens of three ways to drive a device, prompt and definitions: the tools of our skill, a toolset beside them, and all tools
 * deferred behind tool search, which finds those of the skill. Notes all figures; the row compares ours with the browser's.
 */
export async function measureToolsets(sides: Sides, note: (line: string) => void): Promise<Measurement> {
  const dataDir = await sides.newDataDir();
  const server = sides.ours(dataDir);
  try {
    await server.initialize();
    const tools = await server.listTools();
    const file = join(sides.root, "mcp-server", "dist", "catalogue.json");
    const { skills } = catalogueSchema.parse(JSON.parse(await readFile(file, "utf8")));
    const skill = skills.find(({ name }) => name === driving);
    if (!skill) throw new Error(`there is no skill ${driving}`);
    const prompt = countTokens(skill.system_prompt);
    const own = tokensOf(tools.filter(({ name }) => skill.tools.includes(name)));
    const ours = prompt + own;
    const search = prompt + countTokens(JSON.stringify(searchTool));
    const [browser, computer] = [
      toolsetTokens.browser_toolset_20260801,
      toolsetTokens.computer_toolset_20260801,
    ];
    note(
      `toolsets: ${driving} ${ours} tokens; with the computer toolset ${ours + computer}, with the browser toolset ${ours + browser} (Anthropic's figures for a toolset, in its own tokens); all ${tools.length} tools behind tool search at least ${search}, ${search + own} when those of the skill were found; all tools ${prompt + tokensOf(tools)}`,
    );
    return { id: "toolsets.skill", ours, theirs: ours + browser, runs: 1 };
  } finally {
    await server.end();
    await sides.stopDaemon(dataDir);
  }
}
