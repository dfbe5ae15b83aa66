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

/** How requests are answered. Asking is not recalled, but it is not wrong either; `offered` counts it where it names one. */
export function judgeRequests(requests: ReturnType<typeof readRequests>, skills: readonly Skill[]) {
  const judged = requests.map(({ text, skill: wanted }) => {
    const match = matchSkill(text, skills);
    const given = match.kind === "match" ? [match.skill] : match.candidates;
    const isOffered = given.some(({ name }) => wanted.includes(name));
    const isMatched = match.kind === "match";
    return { isFitting: !wanted.includes("ask"), isMatched, isOffered };
  });
  const fitting = judged.filter(({ isFitting }) => isFitting);
  const wrong = judged.filter(({ isMatched, isOffered }) => isMatched && !isOffered);
  return {
    recall: fitting.filter(({ isMatched, isOffered }) => isMatched && isOffered).length / fitting.length,
    offered: fitting.filter(({ isOffered }) => isOffered).length / fitting.length,
    wrong: wrong.length / judged.length,
    unasked: wrong.filter(({ isFitting }) => !isFitting).length,
  };
}
