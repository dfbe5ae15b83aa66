import { type Evaluate, findSkill, foldedWords, latestSkills, type Skill } from "@labwright/skills";
import { ToolError } from "../../../errors.ts";
import { classification, type Judgement } from "./judgement.ts";

/** A skill with a decision tree. */
export type TreeSkill = Skill & { investigation: NonNullable<Skill["investigation"]> };

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
  evaluate: Evaluate,
): { skill: TreeSkill } | { judgement: Judgement } {
  const able = skills.filter((skill): skill is TreeSkill => skill.investigation !== undefined);
  if (wanted !== undefined) return { skill: named(able, wanted) };
  if (able.length === 0) throw notFound("No skill has a decision tree.");
  const latest = new Set<Skill>(latestSkills(able));
  const fitting = able
    .filter((skill) => latest.has(skill))
    .map((skill) => ({ skill, fits: fits(skill, context, evaluate) }));
  const possible = fitting.filter(({ fits }) => fits !== false);
  const asked = possible.filter(({ skill }) => hasPhrase(question ?? "", skill));
  const sure = asked.filter(({ fits }) => fits === true);
  const [best, ...others] = sure.length > 0 ? sure : asked;
  if (best && others.length === 0) return { skill: best.skill };
  const candidates = [asked, possible, fitting].find(({ length }) => length > 0) ?? [];
  return {
    judgement: classification(
      candidates.map(({ skill }) => skill),
      { question, context },
    ),
  };
}

function named(able: readonly TreeSkill[], wanted: string): TreeSkill {
  // Seed 003 writes names with underscores.
  const found = findSkill(able, wanted.replaceAll("_", "-"));
  const skill = able.find((one) => one === found.skill);
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
function fits({ conditions = [] }: Skill, context: Wish["context"], evaluate: Evaluate): boolean | undefined {
  const verdicts = conditions.map((condition) => evaluate(condition, context));
  if (verdicts.includes(false)) return false;
  return conditions.length > 0 && verdicts.every((verdict) => verdict === true) ? true : undefined;
}

function hasPhrase(question: string, { triggers, examples = [] }: Skill): boolean {
  const asked = ` ${foldedWords(question).join(" ")} `;
  return [...triggers, ...examples].some((phrase) => asked.includes(` ${foldedWords(phrase).join(" ")} `));
}
