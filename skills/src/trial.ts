import { join } from "node:path";
import { readRequests, readText } from "./files.ts";
import { matchSkill } from "./match.ts";
import type { Skill } from "./skill.ts";
import { readSource } from "./source.ts";

/**
 * One request tried on a skill. `right`: it chooses the skill, or leaves it alone where it must. `wrong`: it chooses the skill
 * and must not, or `chosen` is another. `undecided`: it must choose the skill and chooses none, for this `reason`. `line`
 * counts from 1.
 */
export type Trial = {
  file: string;
  line: number;
  request: string;
  outcome: "right" | "wrong" | "undecided";
  chosen?: string;
  reason?: string;
};

type Request = Pick<Trial, "file" | "line" | "request"> & { mustChoose: boolean };

/** People say more than the phrase. */
const withSmallWords = (phrase: string): string[] => [phrase, `please ${phrase}`, `could you ${phrase} now`];

/**
 * Tries what the skill in `folder` promises: each trigger, also with small words added, and each line of `examples.txt`
 * must choose it among `skills`; no line of `counterexamples.txt` may.
 */
export function trySkill(folder: string, skill: Skill, skills: readonly Skill[]): Trial[] {
  return requestsIn(folder, skill).map((request) => tryRequest(request, skill, skills));
}

function requestsIn(folder: string, { triggers }: Skill): Request[] {
  const listed = (file: string, mustChoose: boolean) =>
    readRequests(file).map(({ text, line }) => ({ file, line, request: text, mustChoose }));
  return [
    ...triggersIn(join(folder, "skill.yaml"), triggers),
    ...listed(join(folder, "examples.txt"), true),
    ...listed(join(folder, "counterexamples.txt"), false),
  ];
}

function triggersIn(file: string, triggers: readonly string[]): Request[] {
  const text = readText(file);
  const source = readSource(typeof text === "string" ? text : "", file);
  return triggers.flatMap((trigger, index) => {
    const line = Array.isArray(source) ? 1 : source.problemAt(["triggers", index], "").line;
    return withSmallWords(trigger).map((request) => ({ file, line, request, mustChoose: true }));
  });
}

function tryRequest({ mustChoose, ...request }: Request, skill: Skill, skills: readonly Skill[]): Trial {
  const match = matchSkill(request.request, skills);
  if (match.kind === "ask")
    return { ...request, outcome: mustChoose ? "undecided" : "right", reason: match.reason };
  const chosen = match.skill.name;
  return { ...request, outcome: (chosen === skill.name) === mustChoose ? "right" : "wrong", chosen };
}
