import type { z } from "zod";
import { nearest } from "./nearest.ts";
import type { SkillProblem, Source } from "./source.ts";

/** What a schema says against a file, where it stands there; an unknown key of the top with the nearest that is known. */
export function describeIssue(
  issue: z.core.$ZodIssue,
  source: Source,
  what: string,
  { shape }: z.ZodObject,
): SkillProblem[] {
  const { path, message } = issue;
  if (issue.code === "unrecognized_keys" && path.length === 0)
    return issue.keys.map((key) =>
      source.problemAtKey(key, `${key}: is not a key of ${what}${offer(key, Object.keys(shape))}`),
    );
  return [source.problemAt(path, [path.join("."), message].filter(Boolean).join(": "))];
}

/** The end of a message on a name that is not known. */
export function offer(wanted: string, known: Iterable<string>): string {
  const [best] = nearest(wanted, known, 1);
  return best === undefined ? "" : `; the nearest is ${best}`;
}
