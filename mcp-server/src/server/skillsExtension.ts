import type { McpServer } from "@modelcontextprotocol/server";
import { type Skill, SkillsExtension, skillEntry } from "@modelcontextprotocol/server/ext/skills";
import type { CatalogueSkill } from "../registry/catalogue.ts";

/** What the catalogue holds never changes within a build, and is no secret. */
const cacheHint = { ttlMs: 3_600_000, cacheScope: "public" } as const;

/** Entries with their digests, made when a host first asks for them. */
const entries = new WeakMap<CatalogueSkill, Promise<Skill>>();

/** Serves each skill as SEP-2640 has it: `skills/list`, `skills/get`, and `skill://<name>/SKILL.md` with its digest. */
export function attachSkills(mcp: McpServer, skills: readonly CatalogueSkill[]): void {
  const byUri = new Map(skills.map((skill) => [`skill://${skill.name}/SKILL.md`, skill]));
  const source = {
    list: async () => ({ skills: await Promise.all(skills.map(entryOf)) }),
    get: async (uri: string) => {
      const skill = byUri.get(uri);
      return skill && entryOf(skill);
    },
    read: async (uri: string) => {
      const skill = byUri.get(uri);
      return skill && { text: skill.markdown, mimeType: "text/markdown" };
    },
  };
  new SkillsExtension({ source, cacheHint }).attach(mcp);
}

function entryOf(skill: CatalogueSkill): Promise<Skill> {
  const entry = entries.get(skill) ?? skillEntry(skill.name, { "SKILL.md": skill.markdown });
  entries.set(skill, entry);
  return entry;
}
