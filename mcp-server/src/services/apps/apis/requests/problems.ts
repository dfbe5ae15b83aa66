import type { ApiCheck, ApiRequest } from "../../../../domain/index.ts";
import { ToolError } from "../../../../errors.ts";
import { compileExpression } from "../../../values/expressions.ts";
import { holdsSecret, placeholdersIn } from "../../../values/placeholders.ts";
import { parseJsonPath } from "./jsonPath.ts";
import type { SchemaChecker } from "./schemaChecker.ts";

type Key = keyof ApiCheck;
const bodies = ["body", "form", "multipart", "body_file"] as const;
const places = ["status", "header", "json_path", "time_below_ms"] as const;
/** What may be next to each place; nothing for a place that is enough by itself. */
const companions: Readonly<Record<(typeof places)[number], readonly Key[]>> = {
  status: [],
  time_below_ms: [],
  header: ["equals", "matches", "present"],
  json_path: ["equals", "matches", "type", "present", "json_schema"],
};

/** What is wrong with a request, besides its shape. */
export async function requestProblems(
  block: ApiRequest,
  schemas: Pick<SchemaChecker, "check">,
): Promise<string[]> {
  const given = bodies.filter((body) => block[body] !== undefined);
  const problems = [
    ...(given.length > 1 ? [`give one of ${given.join(", ")}`] : []),
    ...(given.length > 0 && block.method === "HEAD" ? ["a HEAD request has no body"] : []),
    ...(holdsSecret(block.url) ? ["a secret belongs into headers or body, not into a URL"] : []),
  ];
  for (const [index, check] of block.checks.entries()) {
    const message = shapeProblem(check) ?? (await contentProblem(check, schemas));
    if (message !== undefined) problems.push(`checks[${index}]: ${message}`);
  }
  return problems;
}

function shapeProblem(check: ApiCheck): string | undefined {
  const given = places.filter((place) => check[place] !== undefined);
  const [place] = given;
  if (given.length > 1) return `give one of ${given.join(", ")}`;
  const more = Object.keys(check).filter((key): key is Key => isBeside(key, place) && hasKey(check, key));
  if (place === undefined) {
    return more.length === 1 && more[0] === "json_schema"
      ? undefined
      : "it names none of status, header, json_path, time_below_ms and json_schema";
  }
  const wrong = more.filter((key) => !companions[place].includes(key));
  if (wrong.length > 0) return `${place} does not go with ${wrong.join(", ")}`;
  return companions[place].length > 0 && more.length === 0
    ? `${place} needs one of ${companions[place].join(", ")}`
    : undefined;
}

const isBeside = (key: string, place: string | undefined) => key !== place && key !== "if_status";

const hasKey = (check: ApiCheck, key: string) =>
  Object.entries(check).some(([name, value]) => name === key && value !== undefined);

async function contentProblem(
  { json_path, matches, json_schema }: ApiCheck,
  schemas: Pick<SchemaChecker, "check">,
): Promise<string | undefined> {
  try {
    if (json_path !== undefined && placeholdersIn(json_path).length === 0) parseJsonPath(json_path);
    if (matches !== undefined && placeholdersIn(matches).length === 0)
      await (await compileExpression("''.matches(pattern)")).evaluate({ pattern: matches });
    if (json_schema !== undefined && typeof json_schema !== "string") await schemas.check(json_schema);
    return undefined;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return `${error.message} ${error.hint}`;
  }
}
