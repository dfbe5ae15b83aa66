import { z } from "zod";
import { refusedSources } from "./dataSources.ts";
import { skillOfDefinition } from "./definition.ts";
import { offer, parseFile } from "./nearest.ts";
import { definitionSchema, type Skill, skillSchema } from "./skill.ts";
import type { SkillProblem, Source } from "./source.ts";

/** What is looked at also when the rest of the file is wrong, so that all problems come at once. */
const headSchema = z.looseObject({
  name: z.string().optional().catch(undefined),
  version: z.string().optional().catch(undefined),
  tools: z.array(z.unknown()).catch([]),
});

/** `source`: where the keys stand, for later problems; undefined with a skill of no file. */
export type ParsedSkill = {
  skill?: Skill;
  problems: SkillProblem[];
  /** A problem at a key of the skill. */
  problemAt?: (path: readonly PropertyKey[], message: string) => SkillProblem;
};

/**
 * Parses one `skill.yaml`; a skill only when nothing is wrong with it, except for data sources that are refused. `folderName` is
 * `<name>` or `<name>@<version>`; `knownTools` are the tools that it may name.
 */
export function parseSkill(
  text: string,
  file: string,
  folderName: string,
  knownTools: ReadonlySet<string>,
): ParsedSkill {
  const { source, data, problems } = parseFile({ file, text }, "a skill", skillSchema);
  if (source === undefined) return { problems };
  problems.push(...checkHead(source, folderName, knownTools));
  problems.sort((a, b) => a.line - b.line);
  return withRefusals(data, problems, source.problemAt);
}

/** As {@link parseSkill} for a `skill_definition.yaml`. The folder's name may have underscores. */
export function parseDefinition(text: string, file: string, folderName: string): ParsedSkill {
  const { source, data, problems } = parseFile({ file, text }, "a skill definition", definitionSchema);
  if (source === undefined) return { problems };
  const skill = data && skillOfDefinition(data);
  if (skill !== undefined && !isFolderOf(folderName.replaceAll("_", "-"), skill))
    problems.push(
      source.problemAt(["skill", "id"], `skill.id: must be its folder's, ${folderName.split("@")[0]}`),
    );
  return withRefusals(skill, problems, (path, message) => source.problemAt(["skill", ...path], message));
}

function withRefusals(
  skill: Skill | undefined,
  problems: SkillProblem[],
  problemAt: NonNullable<ParsedSkill["problemAt"]>,
): ParsedSkill {
  if (skill === undefined || problems.length > 0) return { problems };
  const refused = refusedSources(skill.data_sources).map(({ path, message }) =>
    problemAt(path, `${path.join(".")}: ${message}`),
  );
  return { skill, problems: refused, problemAt };
}

const isFolderOf = (
  folder: string,
  { name, version }: { name: string; version?: string | undefined },
): boolean => folder === name || folder === `${name}@${version}`;

function checkHead(source: Source, folderName: string, knownTools: ReadonlySet<string>): SkillProblem[] {
  const head = headSchema.safeParse(source.value);
  if (!head.success) return [];
  const { name, version, tools } = head.data;
  const problems = tools.flatMap((tool, index) =>
    typeof tool === "string" && !knownTools.has(tool)
      ? [
          source.problemAt(
            ["tools", index],
            `tools.${index}: no tool is called ${tool}${offer(tool, knownTools)}`,
          ),
        ]
      : [],
  );
  if (name !== undefined && !isFolderOf(folderName, { name, version }))
    problems.push(source.problemAt(["name"], `name: must be its folder's, ${folderName.split("@")[0]}`));
  return problems;
}
