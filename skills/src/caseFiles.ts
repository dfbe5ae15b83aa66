import { join } from "node:path";
import { filesIn, readText } from "./files.ts";
import type { Skill } from "./skill.ts";
import { type CaseTrial, parseCase, tryCase } from "./tree/index.ts";

/** A test case of a skill, tried. */
export type TriedCase = CaseTrial & { file: string; line: number };

type Ports = Parameters<typeof tryCase>[2];

/** Tries every `test_cases/*.yaml` of the skill in `folder`; none when it has no decision tree. A file that does not load failed. */
export async function tryCases(folder: string, { investigation }: Skill, ports: Ports): Promise<TriedCase[]> {
  if (investigation === undefined) return [];
  const { tree } = investigation;
  const home = join(folder, "test_cases");
  const tried = [".yaml", ".yml"]
    .flatMap((ending) => filesIn(home, ending))
    .map(async (name): Promise<TriedCase[]> => {
      const file = join(home, name);
      const text = readText(file);
      const read =
        typeof text === "string"
          ? parseCase(text, file, tree)
          : { problems: [{ file, line: 1, message: text?.message ?? "is gone" }] };
      if (read.case === undefined) return read.problems.map(failed);
      return [{ file, line: 1, ...(await tryCase(tree, read.case, ports)) }];
    });
  return (await Promise.all(tried)).flat();
}

const failed = ({ file, line, message }: { file: string; line: number; message: string }): TriedCase => ({
  ...{ file, line, problems: [message] },
  ...{ root_cause: null, confidence: 0, handoffs: 0 },
});
