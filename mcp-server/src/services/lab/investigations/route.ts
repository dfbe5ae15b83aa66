import { findSkill, foldedWords, latestSkills, type Skill } from "@labwright/skills";
import { ToolError } from "../../../errors.ts";
import type { TreeSkill } from "./definition.ts";
import type { Expressions } from "./expressions.ts";
import { classification, type Judgement } from "./judgement.ts";

type Wish = {
  skill?: string | undefined;
  question?: string | undefined;
  context: Readonly<Record<string, unknown>>;
};

/**
 * The skill that is named, else the one whose phrase stands in the question and whose conditions the context meets. Of several, or
 * without one, what is needed to choose. Throws SKILL_NOT_FOUND.
 */
export function chooseSkill(
  skills: readonly Skill[],
  { skill: wanted, question, context }: Wish,
  { holds }: Pick<Expressions, "holds">,
): { skill: TreeSkill } | { judgement: Judgement; steps: number } {
  const able = skills.flatMap(({ investigation, ...skill }): TreeSkill[] =>
    investigation ? [{ ...skill, investigation }] : [],
  );
  if (wanted !== undefined) return { skill: named(able, wanted) };
  if (able.length === 0) throw notFound("No skill has a decision tree.");
  const latest = new Set(latestSkills(able).map(refOf));
  const verdicts = able
    .filter((skill) => latest.has(refOf(skill)))
    .map((skill) => ({ skill, fits: fits(skill, context, holds) }));
  const possible = verdicts.filter(({ fits }) => fits !== false);
  const asked = possible.filter(({ skill }) => question !== undefined && hasPhrase(question, skill));
  const sure = asked.filter(({ fits }) => fits === true);
  const [best, ...others] = sure.length > 0 ? sure : asked;
  if (best && others.length === 0) return { skill: best.skill };
  const candidates = (asked.length > 0 ? asked : possible.length > 0 ? possible : verdicts).map(
    ({ skill }) => skill,
  );
  const prompt = candidates[0]?.investigation.prompts.classify;
  return { judgement: classification(candidates, { question, context }, prompt), steps: 0 };
}

const refOf = ({ name, version }: { name: string; version: string }) => `${name}@${version}`;

function named(able: readonly TreeSkill[], wanted: string): TreeSkill {
  // Seed 003 writes names with underscores.
  const found = findSkill(able, wanted.replaceAll("_", "-"));
  const skill = able.find((one) => found.skill && refOf(one) === refOf(found.skill));
  if (skill) return skill;
  throw notFound(`No skill with a decision tree is called ${wanted}.`, found.skill ? [] : found.nearest);
}

const notFound = (what: string, candidates: readonly string[] = []): ToolError =>
  new ToolError(
    "SKILL_NOT_FOUND",
    what,
    candidates.length > 0
      ? `Did you mean ${candidates.join(", ")}?`
      : "`labwright skills list` shows the skills; `labwright skills new <name> --tree` writes one.",
    { candidates },
  );

/** Every condition holds: true. One does not: false. Else, or without conditions: undefined. */
function fits(
  { conditions = [] }: Skill,
  context: Wish["context"],
  holds: Expressions["holds"],
): boolean | undefined {
  const verdicts = conditions.map((condition) => holds(condition, context));
  if (verdicts.includes(false)) return false;
  return conditions.length > 0 && verdicts.every((verdict) => verdict === true) ? true : undefined;
}

function hasPhrase(question: string, { triggers, examples = [] }: Skill): boolean {
  const asked = ` ${foldedWords(question).join(" ")} `;
  return [...triggers, ...examples].some((phrase) => asked.includes(` ${foldedWords(phrase).join(" ")} `));
}
