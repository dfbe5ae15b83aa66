import { nearest } from "@labwright/controllers";
import { z } from "zod";
import { strictOf } from "../domain/strictOf.ts";
import { ToolError } from "../errors.ts";
import type { AnyTool } from "../registry/tool.ts";
import { wholeInput } from "../registry/wire.ts";

/** More would only bury the first ones. */
const maxProblems = 20;

/** Throws INVALID_INPUT naming every bad path; an unknown argument with the nearest known one. */
export function parseInput(tool: AnyTool, args: unknown): Record<string, unknown> {
  const parsed = strictOf(tool.input).safeParse(args);
  if (parsed.success) return parsed.data;
  const all = parsed.error.issues.flatMap((issue) => problemsOf(issue, tool.input, []));
  const problems = all.slice(0, maxProblems);
  const more = all.length > problems.length ? `; and ${all.length - problems.length} more` : "";
  const known = Object.keys(tool.input.shape);
  const whole = wholeInput(tool) ? ` Their whole shape is the resource schema://${tool.name}.` : "";
  throw new ToolError(
    "INVALID_INPUT",
    `${tool.name}: ${problems.map((p) => `${p.path}: ${p.problem}`).join("; ")}${more}`,
    known.length === 0
      ? `${tool.name} takes no arguments.`
      : `${tool.name} takes ${known.join(", ")}.${whole}`,
    { problems },
  );
}

type Problem = { path: string; problem: string };

function problemsOf(
  issue: z.core.$ZodIssue,
  schema: z.core.$ZodType,
  above: readonly PropertyKey[],
): Problem[] {
  const path = [...above, ...issue.path];
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    const closest = issue.errors.toSorted((a, b) => weight(a) - weight(b))[0] ?? [];
    return closest.flatMap((inner) => problemsOf(inner, schema, path));
  }
  if (issue.code === "unrecognized_keys") {
    const known = keysAt(schema, path);
    return issue.keys.map((key) => ({
      path: pathText([...path, key]),
      problem: unknownArgument(key, known),
    }));
  }
  return [{ path: pathText(path), problem: issue.message }];
}

/** Of a union's branches the one with the fewest problems is what the caller meant. */
const weight = (issues: readonly z.core.$ZodIssue[]): number =>
  issues.reduce((sum, issue) => sum + (issue.code === "invalid_type" && issue.path.length === 0 ? 10 : 1), 0);

function unknownArgument(key: string, known: readonly string[]): string {
  const [near] = nearest(key, known, 1);
  return near === undefined ? "unknown argument" : `unknown argument (did you mean "${near}"?)`;
}

function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  return text.replace(/^\./, "").slice(0, 300) || "arguments";
}

/** The names an object at `path` may have, over all branches of a union. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const inside = unwrapped(schema);
  if (inside.length > 0) return inside.flatMap((inner) => keysAt(inner, path));
  const [step, ...rest] = path;
  if (step === undefined) return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const inner = childAt(schema, step);
  return inner === undefined ? [] : keysAt(inner, rest);
}

/** What a wrapper or union is around; none for a schema that stands for itself. */
function unwrapped(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) return schema.options;
  if (schema instanceof z.ZodPipe) return [schema.in];
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodLazy;
  return isWrapper ? [schema.unwrap()] : [];
}

function childAt(schema: z.core.$ZodType, step: PropertyKey): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodArray) return schema.element;
  if (schema instanceof z.ZodRecord) return schema.valueType;
  return schema instanceof z.ZodObject ? schema.shape[String(step)] : undefined;
}
