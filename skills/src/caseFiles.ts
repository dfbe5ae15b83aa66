import { join } from "node:path";
import { filesIn, readText } from "./files.ts";
import type { Skill } from "./skill.ts";
import {
  type CaseOutcome,
  type CaseTrial,
  type Evaluate,
  judgeCase,
  parseCase,
  runCase,
  type TreeCase,
} from "./tree/index.ts";

/** A test case of a skill, tried. */
export type TriedCase = CaseTrial & { file: string; line: number };

type Ports = {
  evaluate: Evaluate;
  /** Runs a case without results on the real sources. */
  runLive?: (given: TreeCase) => Promise<CaseOutcome>;
};

/** Tries every `test_cases/*.yaml` of the skill in `folder`; none when it has no decision tree. A file that does not load failed. */
export async function tryCases(folder: string, { investigation }: Skill, ports: Ports): Promise<TriedCase[]> {
  if (investigation === undefined) return [];
  const { tree } = investigation;
  const cases = join(folder, "test_cases");
  const tried: TriedCase[] = [];
  for (const name of [".yaml", ".yml"].flatMap((ending) => filesIn(cases, ending))) {
    const file = join(cases, name);
    const text = readText(file, folder);
    const read =
      typeof text === "string"
        ? parseCase(text, file, tree)
        : { problems: [{ file, line: 1, message: text?.message ?? "is gone" }] };
    tried.push(...read.problems.map(failed));
    if (read.case === undefined) continue;
    const outcome =
      read.case.results === undefined
        ? await ports.runLive?.(read.case)
        : runCase(tree, read.case, ports.evaluate);
    const trial = outcome && judgeCase(read.case, outcome);
    const message = "has no results, so it needs the real sources";
    tried.push(trial === undefined ? failed({ file, line: 1, message }) : { file, line: 1, ...trial });
  }
  return tried;
}

const failed = ({ file, line, message }: { file: string; line: number; message: string }): TriedCase => ({
  ...{ file, line, problems: [message] },
  ...{ root_cause: null, confidence: 0, handoffs: 0 },
});
