import { z } from "zod";
import { fitTypes } from "../../domain/fitTypes.ts";
import { pathText, schemaProblems } from "../../domain/schemaProblems.ts";
import { strictOf } from "../../domain/strictOf.ts";
import { ToolError } from "../../errors.ts";
import type { AnyTool } from "../../registry/tool.ts";
import { strictInput } from "../../registry/wire.ts";
import { boundInput } from "./boundInput.ts";
import { callLine } from "./repair/noSuchTool.ts";
import { putRight, type Righted } from "./repair/rightPlaces.ts";

/** More would only bury the first ones. */
const maxProblems = 20;

type Problem = { path: string; problem: string };

/**
 * The input of a call. Numbers, booleans and JSON that were given as text are read, where text is not valid itself. Throws
 * INPUT_TOO_LARGE, and INVALID_INPUT naming every bad path: with the corrected call if arguments are only misplaced or have another name.
 */
export function parseInput(tool: AnyTool, given: unknown): Record<string, unknown> {
  boundInput(given);
  const args = withoutDummy(tool, given ?? {});
  refuseWaiting(tool, args);
  const strict = strictOf(tool.input);
  const parsed = strict.safeParse(args);
  if (parsed.success) return parsed.data;
  const fitted = strict.safeParse(fitTypes(strict, args));
  if (fitted.success) return fitted.data;
  const right = putRight(strictInput(tool), args);
  if (right && strict.safeParse(right.args).success) throw misplaced(tool, right);
  throw invalid(tool, schemaProblems(fitted.error.issues, tool.input));
}

/** Tools that start runs do not wait for one that has begun: the error has the call that does. */
function refuseWaiting({ name, input, output }: AnyTool, args: unknown): void {
  const startsRuns =
    "wait_ms" in input.shape && "execution_id" in output.shape && !("execution_id" in input.shape);
  const asked = startsRuns ? waitSchema.safeParse(args).data : undefined;
  if (asked === undefined) return;
  const line = callLine({ tool: "get_execution_status", arguments: asked });
  throw new ToolError(
    "INVALID_INPUT",
    `${name} starts a run, and does not wait for one that has begun.`,
    `Send this in its place:\n${line}`,
  );
}
const waitSchema = z.object({ execution_id: z.string(), wait_ms: z.int().catch(45_000) });

/** Some hosts cannot call a tool without an argument, and make one up: Cursor sends `random_string`. */
const dummyName =
  /^_?(?:random_string|dummy|placeholder|unused|noop|no_?arg(?:s|uments)?|no_?param(?:s|eters)?)$/i;

function withoutDummy({ input }: AnyTool, args: unknown): unknown {
  if (typeof args !== "object" || args === null || Object.keys(input.shape).length > 0) return args;
  return Object.fromEntries(Object.entries(args).filter(([name]) => !dummyName.test(name)));
}

function misplaced(tool: AnyTool, { args, moves }: Righted): ToolError {
  const said = moves.map(({ from, to }) => {
    const isSamePlace = pathText(from.slice(0, -1)) === pathText(to.slice(0, -1));
    return `${pathText(from)} ${isSamePlace ? "is called" : "belongs in"} ${pathText(to)}`;
  });
  const line = callLine({ tool: tool.name, arguments: args });
  return new ToolError(
    "INVALID_INPUT",
    `${tool.name}: ${said.join("; ")}.`,
    line === undefined ? "Put them there; the rest is valid." : `Send this in its place:\n${line}`,
  );
}

function invalid(tool: AnyTool, found: ReturnType<typeof schemaProblems>): ToolError {
  const problems = found.slice(0, maxProblems).map(
    ({ path, message, key }): Problem => ({
      path: pathText(key === undefined ? path : [...path, key]).slice(0, 300) || "arguments",
      problem: message,
    }),
  );
  const more = found.length > problems.length ? `; and ${found.length - problems.length} more` : "";
  const known = Object.keys(tool.input.shape);
  return new ToolError(
    "INVALID_INPUT",
    `${tool.name}: ${problems.map((p) => `${p.path}: ${p.problem}`).join("; ")}${more}`,
    known.length === 0
      ? `${tool.name} takes no arguments.`
      : `${tool.name} takes ${known.join(", ")}. Their whole shape is the resource schema://${tool.name}.`,
    { problems },
  );
}
