import {
  type ApiOperation,
  type ApiRequest,
  type ApiSpec,
  apiRequestSchema,
  type Params,
  repeatWords,
} from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { withPlainNumbers } from "../../values/exactNumbers.ts";
import { holdsSecret } from "../../values/placeholders.ts";
import { estimateTokens } from "../../values/tokens.ts";
import type { Apis } from "./apis.ts";
import { contractChecks } from "./requests/contract.ts";
import { type Judged, judge } from "./requests/judge.ts";
import { isForm, isMultipart, mediaOf } from "./requests/media.ts";
import { keyOf, namedParameters, writeParameters } from "./requests/operationRequest.ts";
import { requestProblems } from "./requests/problems.ts";
import { type SendPorts, type Sent, sendRequest } from "./requests/send.ts";
import { withoutSecrets } from "./requests/withoutSecrets.ts";
import { isObject } from "./spec/reader.ts";

export type ExecuteApiRequest = {
  method?: ApiRequest["method"] | undefined;
  /** With an operation: the server, in place of the document's. */
  url?: string | undefined;
  api?: string | undefined;
  operation_id?: string | undefined;
  params: Params;
  headers: Record<string, string>;
  body?: unknown;
  form?: Params | undefined;
  multipart?: Params | undefined;
  checks?: Params[] | undefined;
  environment?: string | undefined;
  allow_production: boolean;
  follow_redirects: boolean;
  timeout_ms: number;
  max_tokens: number;
};

/** `passed` says whether every check holds; it is left out without any. `body` is a text where it was cut. */
export type ApiReply = {
  status?: number;
  duration_ms?: number;
  passed?: boolean;
  checks?: Judged[];
  headers?: Record<string, string>;
  body?: unknown;
  more_characters?: number;
  curl: string;
};

type Described = { spec: ApiSpec; operation: ApiOperation };

/**
 * Sends one request, of its own or to an operation of an imported API, and judges the answer: by `checks`, and without
 * any by what the operation's description says. Throws INVALID_INPUT for a request that cannot be made, POLICY_DENIED, URL_DENIED,
 * RATE_LIMITED, and with the `curl` line APP_UNREACHABLE, REQUEST_TIMEOUT and INVALID_RESPONSE.
 */
export async function executeRequest(
  request: ExecuteApiRequest,
  signal: AbortSignal,
  { apis, ports }: { apis: Apis; ports: SendPorts },
): Promise<ApiReply> {
  const { api, operation_id: id, environment, allow_production: grant, max_tokens: maxTokens } = request;
  const described = id === undefined ? undefined : await apis.operation(api, id);
  const asked = requestOf(request, described);
  const problems = await requestProblems(asked, ports.schemas);
  if (problems.length > 0) throw notSendable(problems);
  const sent = await sendRequest(asked, { signal, environment, grant }, ports);
  if ("failure" in sent) throw withCurl(sent.failure, sent.curl);
  const { answer, judged, curl } = await judgedByContract(sent, request, described, ports);
  const checks = ports.secrets.maskValues(judged);
  return {
    ...(answer && { status: answer.status, duration_ms: Math.round(answer.duration_ms) }),
    ...(checks.length > 0 && { passed: checks.every(({ pass }) => pass), checks }),
    ...(answer && {
      headers: shortHeaders(ports.secrets.mask(answer.headers)),
      // A value that was cut could not be hidden any more.
      ...shownBody(
        ports.secrets.mask(withPlainNumbers(withoutSecrets(answer.body, ports.secrets.maskValues))),
        maxTokens,
      ),
    }),
    curl,
  };
}

type Answered = Extract<Sent, { judged: unknown }>;

async function judgedByContract(
  sent: Answered,
  { checks }: ExecuteApiRequest,
  described: Described | undefined,
  { schemas, secrets }: SendPorts,
): Promise<Answered> {
  if (checks !== undefined || !described || !sent.answer) return sent;
  const { spec, operation } = described;
  const judges = {
    check: (...given: Parameters<typeof schemas.check>) => schemas.check(...given),
    hide: <T>(value: T) => withoutSecrets(value, secrets.maskValues),
    passesSecrets: true,
  };
  return { ...sent, judged: await judge(contractChecks(spec, operation, sent.answer), sent.answer, judges) };
}

function requestOf(request: ExecuteApiRequest, described: Described | undefined): ApiRequest {
  const { url, params, checks, follow_redirects, timeout_ms } = request;
  const place = described ? placeOf(described, { url, params }) : { url, headers: {}, method: "GET" };
  if (place.url === undefined)
    throw new ToolError(
      "INVALID_INPUT",
      "The request has no address.",
      "Give url, or operation_id of an imported API (list_api_operations).",
    );
  if (!described && Object.keys(params).length > 0)
    throw notSendable(["params are those of an operation: give operation_id, or write them into url"]);
  const { headers = request.headers, ...bodies } = bodiesOf(request, described);
  const parsed = apiRequestSchema.safeParse({
    ...{
      method: request.method ?? place.method,
      url: place.url,
      ...{ ...bodies, headers: { ...place.headers, ...headers } },
    },
    ...{ follow_redirects, timeout_ms, checks: checks ?? [] },
  });
  if (parsed.success) return parsed.data;
  throw notSendable(parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`));
}

function placeOf({ spec, operation }: Described, { url, params }: Pick<ExecuteApiRequest, "url" | "params">) {
  const base = url ?? operation.servers[0] ?? spec.servers[0];
  if (base === undefined)
    throw new ToolError(
      "INVALID_INPUT",
      `The description of "${spec.name}" names no server.`,
      "Give url, the address of the server.",
    );
  const values = namedParameters(operation, params);
  const inUrl = operation.parameters.filter((one) => one.in === "path" || one.in === "query");
  const secret = inUrl.find((one) => holdsSecret(values[keyOf(one)]));
  if (secret)
    throw notSendable([`params.${secret.name}: a secret belongs into headers or body, not into a URL`]);
  const written = writeParameters(operation, values);
  return { url: base.replace(/\/+$/, "") + written.url, headers: written.headers, method: operation.method };
}

/** An object for an operation that takes a form goes as one; another body goes as it is, with the type that it takes. */
function bodiesOf({ body, form, multipart, headers }: ExecuteApiRequest, described: Described | undefined) {
  const [media = ""] = (described && mediaOf(described.operation)) ?? [];
  const isFields = form === undefined && multipart === undefined && isObject(body);
  if (isFields && isForm(media)) return isMultipart(media) ? { multipart: body } : { form: body };
  const isTyped = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  const isSaid = body !== undefined && media !== "" && !media.includes("*") && !isTyped;
  return { body, form, multipart, headers: isSaid ? { "content-type": media, ...headers } : headers };
}

const notSendable = (problems: readonly string[]) =>
  new ToolError(
    "INVALID_INPUT",
    `The request cannot be made: ${problems.join("; ")}.`,
    "Correct it and call again; nothing was sent.",
    { problems },
  );

/** Only of a request that may have been sent. */
function withCurl(error: unknown, curl: string): unknown {
  if (!(error instanceof ToolError)) return error;
  if (!["APP_UNREACHABLE", "REQUEST_TIMEOUT", "INVALID_RESPONSE"].includes(error.code)) return error;
  const { code, message, hint, details } = error;
  return new ToolError(
    code,
    `${message} ${repeatWords}${curl}`,
    hint,
    { ...details, curl },
    { cause: error },
  );
}

const longestHeader = 200;

const shortHeaders = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.slice(0, longestHeader)]));

function shownBody(body: unknown, maxTokens: number): Pick<ApiReply, "body" | "more_characters"> {
  if (body === "") return {};
  const text = typeof body === "string" ? body : (JSON.stringify(body) ?? "");
  if (estimateTokens(text) <= maxTokens) return { body };
  // About three characters a token, so that the cut is never far too long.
  const shown = text.slice(0, maxTokens * 3);
  return { body: shown, more_characters: text.length - shown.length };
}
