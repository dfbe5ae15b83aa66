import { pathText, schemaProblems } from "../domain/schemaProblems.ts";
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
  const all = schemaProblems(parsed.error.issues, tool.input).map(({ path, message, key }) => ({
    path: pathText(key === undefined ? path : [...path, key]).slice(0, 300) || "arguments",
    problem: message,
  }));
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
