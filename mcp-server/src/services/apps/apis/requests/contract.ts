import type { ApiCheck, ApiMedia, ApiOperation, ApiResponse, ApiSpec } from "../../../../domain/index.ts";
import { wholeSchema } from "../spec/wholeSchema.ts";
import type { Answer } from "./answer.ts";
import { isJson } from "./media.ts";

/**
 * The checks that an operation's description makes of an answer: a described status, and for it the described content type
 * and schema, and the headers that it requires.
 */
export function contractChecks(
  { definitions }: Pick<ApiSpec, "definitions">,
  { responses }: Pick<ApiOperation, "responses">,
  { status, headers }: Pick<Answer, "status" | "headers">,
): ApiCheck[] {
  const response = describedResponse(responses, status);
  if (response === undefined) {
    const known = Object.keys(responses).filter((key) => /^[1-5](\d\d|XX)$/.test(key));
    return known.length > 0
      ? [{ status: known.map((key) => (/XX$/.test(key) ? key.toLowerCase() : Number(key))) }]
      : [];
  }
  const type = headers["content-type"] ?? "";
  const media = mediaFor(response.content, type);
  return [
    { status },
    ...contentChecks(response.content, type, status),
    ...replyChecks(
      response,
      media?.schema !== undefined && isJson(type)
        ? wholeSchema(media.schema, definitions, "response")
        : undefined,
    ),
  ];
}

/** What a described reply must have: its headers and, where one is given, the schema of its body. */
export const replyChecks = (
  { required_headers: headers }: ApiResponse,
  schema: ApiCheck["json_schema"],
  only: Pick<ApiCheck, "if_status"> = {},
): ApiCheck[] => [
  ...headers.map((header): ApiCheck => ({ ...only, header, present: true })),
  ...(schema === undefined ? [] : [{ ...only, json_schema: schema }]),
];

/** By its status, else by its class, else `default`. */
const describedResponse = (responses: ApiOperation["responses"], status: number): ApiResponse | undefined =>
  responses[status] ?? responses[`${Math.floor(status / 100)}XX`] ?? responses.default;

const essence = (type: string) => type.split(";", 1)[0]?.trim().toLowerCase() ?? "";

function contentChecks(content: ApiResponse["content"], type: string, status: number): ApiCheck[] {
  const types = Object.keys(content);
  if (types.length === 0 || status === 204 || status === 304 || mediaFor(content, type)) return [];
  const pattern = types.map((one) =>
    essence(one)
      .replaceAll(/[.+?^$()[\]{}|\\]/g, "\\$&")
      .replaceAll("*", "[^/;]+"),
  );
  return [{ header: "content-type", matches: `(?i)^(?:${pattern.join("|")})` }];
}

function mediaFor(content: ApiResponse["content"], type: string): ApiMedia | undefined {
  const own = essence(type);
  const [kind = ""] = own.split("/");
  const wanted = [own, `${kind}/*`, "*/*"];
  const entries = Object.entries(content);
  for (const one of wanted) {
    const found = entries.find(([key]) => essence(key) === one);
    if (found) return found[1];
  }
  return undefined;
}
