import { z } from "zod";
import { describeIssue, offer } from "./nearest.ts";
import { type Skill, skillSchema } from "./skill.ts";
import { readSource, type SkillProblem, type Source } from "./source.ts";

/** What is looked at also when the rest of the file is wrong, so that all problems come at once. */
const headSchema = z.looseObject({
  name: z.string().optional().catch(undefined),
  version: z.string().optional().catch(undefined),
  tools: z.array(z.unknown()).catch([]),
});

/**
 * Parses one `skill.yaml`; a skill only when nothing is wrong with it. `folderName` is `<name>` or `<name>@<version>`;
 * `knownTools` are the tools that it may name.
 */
export function parseSkill(
  text: string,
  file: string,
  folderName: string,
  knownTools: ReadonlySet<string>,
): { skill?: Skill; problems: SkillProblem[] } {
  const source = readSource(text, file);
  if (Array.isArray(source)) return { problems: source };
  const parsed = skillSchema.safeParse(source.value);
  const problems = [
    ...(parsed.error?.issues ?? []).flatMap((issue) => describeIssue(issue, source, "a skill", skillSchema)),
    ...checkHead(source, folderName, knownTools),
  ].sort((a, b) => a.line - b.line);
  return parsed.success && problems.length === 0 ? { skill: parsed.data, problems } : { problems };
}

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
  if (name !== undefined && folderName !== name && folderName !== `${name}@${version}`)
    problems.push(source.problemAt(["name"], `name: must be its folder's, ${folderName.split("@")[0]}`));
  return problems;
}
