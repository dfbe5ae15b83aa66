import { readFileSync } from "node:fs";
import { join } from "node:path";
import { matchSkill, type Skill } from "@labwright/skills";
import { parse } from "yaml";
import { z } from "zod";

const requestsSchema = z.array(
  z.strictObject({
    text: z.string(),
    lang: z.string(),
    skill: z.union([z.string().transform((name) => [name]), z.array(z.string())]),
  }),
);

/** `folder` is test/skills/requests of a checkout. */
export const readRequests = (folder: string, file: string) =>
  requestsSchema.parse(parse(readFileSync(join(folder, file), "utf8")));

/** `answered` and `wrong`: how many requests got a skill, and a wrong one. `offered`: the share of those with a skill that get it or are offered it. */
export function judgeRequests(requests: ReturnType<typeof readRequests>, skills: readonly Skill[]) {
  const judged = requests.map(({ text, skill: wanted }) => {
    const match = matchSkill(text, skills);
    const given = match.kind === "match" ? [match.skill] : match.candidates;
    const isOffered = given.some(({ name }) => wanted.includes(name));
    return { isFitting: !wanted.includes("ask"), isAnswered: match.kind === "match", isOffered };
  });
  const answered = judged.filter(({ isAnswered }) => isAnswered);
  const fitting = judged.filter(({ isFitting }) => isFitting);
  return {
    answered: answered.length,
    wrong: answered.filter(({ isOffered }) => !isOffered).length,
    offered: fitting.filter(({ isOffered }) => isOffered).length / fitting.length,
  };
}
