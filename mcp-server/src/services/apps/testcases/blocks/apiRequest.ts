import {
  type ApiCheck,
  type ApiRequest,
  apiRequestSchema,
  type Params,
  repeatWords,
  slowNotices,
} from "../../../../domain/index.ts";
import { ToolError } from "../../../../errors.ts";
import { classOf } from "../../../records/verdicts.ts";
import { withPlainNumbers } from "../../../values/exactNumbers.ts";
import { resolveText, resolveValue, resolveValues } from "../../../values/values.ts";
import { type Sent, sendRequest } from "../../apis/requests/send.ts";
import { withoutSecrets } from "../../apis/requests/withoutSecrets.ts";
import type { BlockEnd, BlockOf, Frame, PreparedBlock, Session } from "./block.ts";

/** Sends a request under the URL policy, with the cookies of the run. Each of its checks counts as one. */
export function apiRequestBlock(block: BlockOf<"api_request">, { session, scope }: Frame): PreparedBlock {
  const asked = resolved(block, scope);
  const { timeout_ms: _, expect_status: _status, checks, ...input } = asked;
  return {
    input: { ...input, ...(checks.length > 0 && { checks }) },
    title: `${asked.method} ${asked.url}`.slice(0, 120),
    run: () => ask(asked, session),
  };
}

/** Fills in placeholders, not secrets. `expect_status` becomes a check. */
function resolved(
  { id: _, label: _label, type: _type, ...block }: BlockOf<"api_request">,
  scope: Params,
): ApiRequest {
  const { url, headers, expect_status, checks, ...rest } = block;
  const all = [...(expect_status === undefined ? [] : [{ status: expect_status }]), ...checks];
  const { form, multipart, ...values } = resolveValues(rest, scope);
  const parsed = apiRequestSchema.safeParse({
    ...values,
    // Texts in either: a number goes as it is written.
    ...withPlainNumbers({ form, multipart }, String),
    url: resolveText(url, scope),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, resolveText(value, scope)]),
    ),
    checks: all.map((check) => resolvedCheck(check, scope)),
  });
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  const hint = "Look at the variables that the request takes, and at what they hold.";
  throw new ToolError("INVALID_INPUT", `The request cannot be made: ${lines.join("; ")}.`, hint);
}

/** A schema's braces are its own, unless it is one placeholder. */
function resolvedCheck({ json_schema, ...check }: ApiCheck, scope: Params): Params {
  const schema = typeof json_schema === "string" ? resolveValue(json_schema, scope) : json_schema;
  return { ...resolveValues(check, scope), ...(schema !== undefined && { json_schema: schema }) };
}

async function ask(asked: ApiRequest, session: Session): Promise<BlockEnd> {
  const { ports, run, cookies, connections, place } = session;
  const sent = await sendRequest(asked, { cookies, connections, ...place, signal: run.signal }, ports);
  return "failure" in sent ? unanswered(sent.failure, sent.curl) : endOf(asked, sent, session);
}

type Answered = Extract<Sent, { judged: unknown }>;

function endOf(asked: ApiRequest, { answer, judged, curl }: Answered, session: Session): BlockEnd {
  const { secrets } = session.ports;
  session.verified(judged.length);
  const masked = secrets.maskValues(judged);
  const output = {
    ...(answer && {
      ...secrets.maskValues(answer),
      body: withoutSecrets(answer.body, secrets.maskValues),
    }),
    ...(masked.length > 0 && { checks: masked }),
  };
  session.answers.add(output);
  const broken = masked.filter((one) => !one.pass);
  const [first] = broken;
  if (!first || first.pass) {
    return { ok: true, output, notices: slowNotices(asked.url, answer?.duration_ms ?? 0, asked.timeout_ms) };
  }
  const { expected, found } = first;
  const count = masked.length > 1 ? ` (${broken.length} of ${masked.length} checks do not hold)` : "";
  return {
    ok: false,
    output: { ...output, expected, actual: found, curl },
    code: "VERIFICATION_FAILED",
    message: `expected ${expected}; found ${found}${count}. ${repeatWords}${curl}`,
    kind: "behaviour",
    detail: { expected, found },
  };
}

function unanswered(error: unknown, curl: string): BlockEnd {
  const { code, message } = described(error);
  return {
    ok: false,
    output: { curl },
    code,
    message: `${message} ${repeatWords}${curl}`,
    kind: classOf(code),
  };
}

function described(error: unknown): { code: string; message: string } {
  if (error instanceof ToolError) return { code: error.code, message: `${error.message} ${error.hint}` };
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    return { code: error.code, message: error.message };
  }
  return { code: "APP_UNREACHABLE", message: error instanceof Error ? error.message : String(error) };
}
