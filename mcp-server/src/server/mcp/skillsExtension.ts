import type { McpServer } from "@modelcontextprotocol/server";
import { type Skill, SkillsExtension, skillEntry } from "@modelcontextprotocol/server/ext/skills";
import type { CatalogueSkill } from "../../registry/catalogue.ts";
import type { Backend } from "./backend.ts";

/** The user's own skills are among them, and change. */
const cacheHint = { ttlMs: 0, cacheScope: "private" } as const;

/**
 * Serves each skill as SEP-2640 has it: `skills/list`, `skills/get`, and `skill://<name>/SKILL.md` with its digest. Those
 * of the build are answered here; for the user's own the backend is asked.
 */
export function attachSkills(mcp: McpServer, skills: readonly CatalogueSkill[], backend: Backend): void {
  const find = async (uri: string) => {
    const isHere = (skill: CatalogueSkill) => uri === `skill://${skill.name}/SKILL.md`;
    return skills.find(isHere) ?? (await backend.skills()).find(isHere);
  };
  const source = {
    list: async () => {
      const all = [...skills, ...(await backend.skills())].sort((a, b) => (a.name < b.name ? -1 : 1));
      return { skills: await Promise.all(all.map(entryOf)) };
    },
    get: async (uri: string) => {
      const skill = await find(uri);
      return skill && entryOf(skill);
    },
    read: async (uri: string) => {
      const skill = await find(uri);
      return skill && { text: skill.markdown, mimeType: "text/markdown" };
    },
  };
  new SkillsExtension({ source, cacheHint }).attach(mcp);
}

const entryOf = ({ name, markdown }: CatalogueSkill): Promise<Skill> =>
  skillEntry(name, { "SKILL.md": markdown });
