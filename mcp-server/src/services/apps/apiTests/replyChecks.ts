import type {
  ApiCheck,
  ApiOperation,
  ApiResponse,
  ApiSpec,
  Params,
  WantedStatus,
} from "../../../domain/index.ts";
import { replyChecks } from "../apis/requests/contract.ts";
import { isJson } from "../apis/requests/media.ts";
import { isObject } from "../apis/spec/reader.ts";
import { wholeSchema } from "../apis/spec/wholeSchema.ts";
import { lenient } from "./schemas.ts";

const classes = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;
/** Everything but 500, which is a fault whatever was asked. */
export const anyButCrash = ["1xx", "2xx", "3xx", "4xx", 501, 502, 503, 504, 505, 507, 508, 511];
export const notSuccess = anyButCrash.filter((status) => status !== "2xx");

/** What the document says of replies: checks that each count for some statuses only, and the schemas that they name. */
export type ReplyRules = {
  success: WantedStatus;
  /** Status 500 is all that the document promises. */
  failsOnly: boolean;
  checks: ApiCheck[];
  variables: Params;
};

const bodiless: ReadonlySet<string> = new Set(["204", "205", "304"]);

/** `isUsable` says whether a schema can be used; others are not judged. */
export async function replyRules(
  operation: ApiOperation,
  { definitions }: ApiSpec,
  isUsable: (schema: Params | boolean) => Promise<boolean>,
): Promise<ReplyRules> {
  const checks: ApiCheck[] = [];
  const variables: Params = {};
  for (const [status, response] of Object.entries(operation.responses)) {
    const only = statusesOf(status, operation.responses);
    if (only === undefined) continue;
    const schema = schemaOf(status, response, operation, definitions);
    const isJudged = schema !== undefined && (await isUsable(schema));
    const name = `reply_${status.toLowerCase()}`;
    if (isJudged) variables[name] = schema;
    checks.push(...replyChecks(response, isJudged ? `{{${name}}}` : undefined, { if_status: only }));
  }
  const statuses = Object.keys(operation.responses);
  const failsOnly = statuses.includes("500") && statuses.every((status) => /^[45]/.test(status));
  return { success: successOf(operation), failsOnly, checks, variables };
}

/** Of its JSON, which is all that we accept where it is offered. Undefined for a reply without. */
function schemaOf(
  status: string,
  { content }: ApiResponse,
  { method }: ApiOperation,
  definitions: ApiSpec["definitions"],
): Params | boolean | undefined {
  const schema = Object.entries(content).find(([type]) => isJson(type))?.[1].schema;
  if (schema === undefined || bodiless.has(status) || method === "HEAD") return undefined;
  const whole = lenient(wholeSchema(schema, definitions, "response"), "response");
  return isObject(whole) || typeof whole === "boolean" ? whole : undefined;
}

/** Undefined for one that no status is left for. */
function statusesOf(status: string, responses: ApiOperation["responses"]): WantedStatus | undefined {
  const named = Object.keys(responses).filter((other) => other !== "default" && other !== status);
  const isNamed = (of: string) => named.some((other) => other[0] === of[0]);
  if (/^\d{3}$/.test(status)) return Number(status);
  if (/^\dxx$/i.test(status)) return isNamed(status) ? undefined : status.toLowerCase();
  const left = classes.filter((of) => !isNamed(of));
  return left.length > 0 ? left : undefined;
}

/** The statuses that the document names for success; any where it names none, or has a default. */
function successOf({ responses }: ApiOperation): WantedStatus {
  const named = Object.keys(responses).filter((status) => /^[23]/.test(status));
  const good = named.map((status) => (/xx$/i.test(status) ? status.toLowerCase() : Number(status)));
  if (good.length === 0 || "default" in responses) return ["2xx", "3xx"];
  return good;
}
