import type {
  ApiCheck,
  ApiOperation,
  ApiResponse,
  ApiSpec,
  Params,
  WantedStatus,
} from "../../../domain/index.ts";
import { isObject } from "../apis/spec/reader.ts";
import { wholeSchema } from "../apis/spec/wholeSchema.ts";
import { isJson } from "./requests.ts";
import { lenient } from "./schemas.ts";

const classes = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;
/** Everything but 500, which is a fault whatever was asked. */
export const anyButCrash: (string | number)[] = [
  "1xx",
  "2xx",
  "3xx",
  "4xx",
  501,
  502,
  503,
  504,
  505,
  507,
  508,
  511,
];
export const notSuccess: (string | number)[] = anyButCrash.filter((status) => status !== "2xx");

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
    const { required_headers: headers } = response;
    checks.push(...headers.map((header): ApiCheck => ({ if_status: only, header, present: true })));
    const hasBody = !bodiless.has(status) && operation.method !== "HEAD";
    const schema = hasBody ? jsonSchemaOf(response) : undefined;
    if (schema === undefined) continue;
    const whole = lenient(wholeSchema(schema, definitions, "response"), "response");
    if (!isSchema(whole) || !(await isUsable(whole))) continue;
    const name = `reply_${status.toLowerCase()}`;
    variables[name] = whole;
    checks.push({ if_status: only, json_schema: `{{${name}}}` });
  }
  const statuses = Object.keys(operation.responses);
  const failsOnly = statuses.includes("500") && statuses.every((status) => /^[45]/.test(status));
  return { success: successOf(operation), failsOnly, checks, variables };
}

const isSchema = (value: unknown): value is Params | boolean => isObject(value) || typeof value === "boolean";

/** We accept JSON alone where it is offered. */
function jsonSchemaOf({ content }: ApiResponse) {
  const json = Object.keys(content).find(isJson);
  return json === undefined ? undefined : content[json]?.schema;
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
