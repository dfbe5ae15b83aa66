import { nearest } from "@labwright/controllers";
import { z } from "zod";
import type { Path, Problem, Source } from "./source.ts";

type Issue = z.core.$ZodIssue;

/** The problems that a failed parse found, each where it stands in the file; unknown keys with the nearest known one. */
export function describeIssues(issues: readonly Issue[], schema: z.ZodType, source: Source): Problem[] {
  return issues.flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") return [source.problem(issue.path, issue.message)];
    const known = keysAt(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }), issue.path);
    return issue.keys.map((key) => {
      const [best] = nearest(key, known, 1);
      const offer = best === undefined ? `known are ${known.join(", ")}` : `did you mean "${best}"?`;
      return source.problem(issue.path, `unknown key "${key}"; ${offer}`, key);
    });
  });
}

const nodeSchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  additionalProperties: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
});

/** The keys an object may have at `path`, read from a JSON Schema. */
function keysAt(schema: unknown, path: Path): string[] {
  const node = nodeSchema.safeParse(schema).data;
  if (node === undefined) return [];
  const [part, ...rest] = path;
  if (node.anyOf !== undefined) return node.anyOf.flatMap((option) => keysAt(option, path));
  if (part === undefined) return Object.keys(node.properties ?? {});
  if (typeof part === "number") return keysAt(node.items, rest);
  return keysAt(node.properties?.[String(part)] ?? node.additionalProperties, rest);
}
