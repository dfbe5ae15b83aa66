import { createHash } from "node:crypto";
import { instructions } from "./instructions.ts";
import type { AnyTool } from "./tool.ts";
import { strictInput, toWireTool, type WireTool, wireSchema } from "./wire.ts";

/** Which build wrote it. `hash` is of its sources; `at` is ISO 8601 UTC and says which of two builds is newer. */
export type Build = { hash: string; at: string };

/** A skill as the listings need it: which tools serve it, what its model is told, and its SKILL.md. */
export type CatalogueSkill = {
  name: string;
  version: string;
  description: string;
  system_prompt: string;
  tools: readonly string[];
  markdown: string;
};

/** All that the listings of the protocol need, a pure function of the build; the bridge reads nothing else. */
export type Catalogue = {
  /** Of the package. */
  version: string;
  build: Build;
  /** Hash of the listings themselves. */
  hash: string;
  instructions: string;
  /** By name. */
  tools: WireTool[];
  /** The strict input of each tool, by its name. */
  schemas: Record<string, WireTool["inputSchema"]>;
  /** By name. */
  skills: CatalogueSkill[];
};

export function buildCatalogue(given: {
  tools: readonly AnyTool[];
  skills: readonly CatalogueSkill[];
  version: string;
  build: Build;
}): Catalogue {
  const { version, build } = given;
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  const skills = given.skills.map(listed).sort(byName);
  const wire = given.tools.map((tool) => withSkills(toWireTool(tool), skills)).sort(byName);
  const schemas = Object.fromEntries(
    given.tools.toSorted(byName).map((tool) => [tool.name, wireSchema(strictInput(tool), "input")]),
  );
  const hash = createHash("sha256")
    .update(JSON.stringify([instructions, wire, schemas, skills]))
    .digest("hex")
    .slice(0, 16);
  return { version, build, hash, instructions, tools: wire, schemas, skills };
}

/** Nothing else of what a skill is: triggers and limits are for those who choose and run it. */
const listed = (skill: CatalogueSkill): CatalogueSkill => ({
  name: skill.name,
  version: skill.version,
  description: skill.description,
  system_prompt: skill.system_prompt,
  tools: skill.tools,
  markdown: skill.markdown,
});

function withSkills(tool: WireTool, skills: readonly CatalogueSkill[]): WireTool {
  const homes = skills.filter(({ tools }) => tools.includes(tool.name)).map(({ name }) => name);
  return { ...tool, _meta: { ...tool._meta, "dev.labwright/skills": homes } };
}
