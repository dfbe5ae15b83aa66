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
    ...triggersIn(folder, triggers),
    ...listed(join(folder, "examples.txt"), true),
    ...listed(join(folder, "counterexamples.txt"), false),
  ];
}

function triggersIn(folder: string, triggers: readonly string[]): Request[] {
  const { file, source, path } = triggerFile(folder);
  return triggers.flatMap((trigger, index) => {
    const line = Array.isArray(source) ? 1 : source.problemAt([...path, index], "").line;
    return withSmallWords(trigger).map((request) => ({ file, line, request, mustChoose: true }));
  });
}

/** Where the triggers of a skill stand. */
function triggerFile(folder: string) {
  const forms = [
    { file: join(folder, "skill.yaml"), path: ["triggers"] },
    { file: join(folder, "skill_definition.yaml"), path: ["skill", "triggers", "keywords"] },
  ] as const;
  const texts = forms.map(({ file }) => readText(file));
  const at = typeof texts[0] !== "string" && typeof texts[1] === "string" ? 1 : 0;
  const text = texts[at];
  return { ...forms[at], source: readSource(typeof text === "string" ? text : "", forms[at].file) };
}

function tryRequest({ mustChoose, ...request }: Request, skill: Skill, skills: readonly Skill[]): Trial {
  const match = matchSkill(request.request, skills);
  if (match.kind === "ask")
    return { ...request, outcome: mustChoose ? "undecided" : "right", reason: match.reason };
  const chosen = match.skill.name;
  return { ...request, outcome: (chosen === skill.name) === mustChoose ? "right" : "wrong", chosen };
}
