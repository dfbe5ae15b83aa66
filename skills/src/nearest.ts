import type { z } from "zod";
import { readSource, type SkillProblem, type Source } from "./source.ts";

/** Up to `limit` names that are most like `wanted`, best first: what a problem offers when a name is unknown. */
export function nearest(wanted: string, names: Iterable<string>, limit = 3): string[] {
  return [...new Set(names)]
    .map((name) => ({ name, score: likeness(wanted, name) }))
    .filter(({ score }) => score > 0.3)
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

/** Dice coefficient over the distinct letter pairs, 0..1. */
function likeness(a: string, b: string): number {
  const left = pairsOf(a);
  const right = pairsOf(b);
  const shared = [...left].filter((pair) => right.has(pair)).length;
  return (2 * shared) / Math.max(left.size + right.size, 1);
}

function pairsOf(name: string): Set<string> {
  const text = ` ${name.toLowerCase().replace(/[\s_-]+/g, " ")} `.slice(0, 200);
  return new Set(Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2)));
}

/** What a schema says against a file, where it stands there; an unknown key of the top with the nearest that is known. */
export function describeIssue(
  issue: z.core.$ZodIssue,
  source: Source,
  what: string,
  { shape }: z.ZodObject,
): SkillProblem[] {
  const { path, message } = issue;
  if (issue.code === "unrecognized_keys" && path.length === 0)
    return issue.keys
      .slice(0, mostProblems)
      .map((key) =>
        source.problemAtKey(key, `${key}: is not a key of ${what}${offer(key, Object.keys(shape))}`),
      );
  if (issue.code === "unrecognized_keys")
    return issue.keys
      .slice(0, mostProblems)
      .map((key) => source.problemAt([...path, key], `${[...path, key].join(".")}: is not a key here`));
  return [source.problemAt(path, [path.join("."), message].filter(Boolean).join(": "))];
}

/** A file's problems beyond these are not reported: a person mends the first ones first, and each is looked up in the file. */
export const mostProblems = 100;

/** A file by its schema, with every problem at its line. `source` is undefined when its YAML is broken. */
export function parseFile<Schema extends z.ZodObject>(
  { file, text }: { file: string; text: string },
  what: string,
  schema: Schema,
): { source?: Source; data?: z.output<Schema> | undefined; problems: SkillProblem[] } {
  const source = readSource(text, file);
  if (Array.isArray(source)) return { problems: source };
  const { data, error } = schema.safeParse(source.value);
  const issues = error?.issues ?? [];
  const problems = issues
    .slice(0, mostProblems)
    .flatMap((issue) => describeIssue(issue, source, what, schema));
  return { source, data, problems: problems.slice(0, mostProblems) };
}

/** The end of a message on a name that is not known. */
export function offer(wanted: string, known: Iterable<string>): string {
  const [best] = nearest(wanted, known, 1);
  return best === undefined ? "" : `; the nearest is ${best}`;
}
