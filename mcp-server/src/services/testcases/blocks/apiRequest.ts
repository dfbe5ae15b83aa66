import { ToolError } from "../../../errors.ts";
import type { Clock, Secrets } from "../../ports.ts";
import { resolveText, resolveValue, resolveValues } from "../../values.ts";
import { classOf } from "../../verdicts.ts";
import type { BlockEnd, BlockOf, Frame, PreparedBlock } from "./block.ts";

/** An HTTP request under the URL policy. Counts as a check when the test says which status it expects. */
export function apiRequestBlock(block: BlockOf<"api_request">, frame: Frame): PreparedBlock {
  const { session, scope } = frame;
  const url = resolveText(block.url, scope);
  const headers = resolveValues(block.headers, scope);
  const body = block.body === undefined ? undefined : resolveValue(block.body, scope);
  return {
    input: { method: block.method, url, headers, ...(body !== undefined && { body }) },
    pictured: false,
    title: `${block.method} ${url}`.slice(0, 120),
    async run(): Promise<BlockEnd> {
      const { ports, run } = session;
      const timer = deadline(ports.clock, block.timeout_ms);
      const signal = AbortSignal.any([run.signal, timer.signal]);
      try {
        const sent = requestOf(block.method, headers, body, ports.secrets);
        const response = await ports.http(url, { ...sent, signal });
        const output = ports.secrets.maskValues(await read(response));
        if (block.expect_status !== undefined) session.verified();
        return judge(block, output);
      } catch (error) {
        if (run.signal.aborted) throw run.signal.reason;
        const { code, message } = describe(timer.signal.aborted ? timer.signal.reason : error);
        return { ok: false, output: null, code, message, kind: classOf(code) };
      } finally {
        timer.stop();
      }
    },
  };
}

type Answer = { status: number; headers: Record<string, string>; body: unknown };

function judge(block: BlockOf<"api_request">, output: Answer): BlockEnd {
  const { status } = output;
  const wanted = block.expect_status;
  const good = wanted === undefined ? status >= 200 && status < 300 : status === wanted;
  if (good) return { ok: true, output };
  const expected = `status ${wanted ?? "2xx"}`;
  return {
    ok: false,
    output,
    code: "VERIFICATION_FAILED",
    message: `expected ${expected}; found ${status}`,
    kind: "behaviour",
    detail: { expected, found: `status ${status}` },
  };
}

/** Secrets are filled in here and nowhere earlier; a body that is not text goes as JSON. */
function requestOf(method: string, headers: object, body: unknown, secrets: Secrets) {
  const filled = Object.fromEntries(
    Object.entries(secrets.fill(headers)).map(([name, value]) => [name, String(value)]),
  );
  if (body === undefined || method === "GET" || method === "HEAD") return { method, headers: filled };
  if (typeof body === "string") return { method, headers: filled, body: secrets.fill(body) };
  const typed = Object.keys(filled).some((name) => name.toLowerCase() === "content-type");
  return {
    method,
    headers: typed ? filled : { ...filled, "content-type": "application/json" },
    body: JSON.stringify(secrets.fill(body)),
  };
}

async function read(response: Response): Promise<Answer> {
  const headers = Object.fromEntries(response.headers.entries());
  const text = await response.text();
  return { status: response.status, headers, body: parsed(text, headers["content-type"] ?? "") };
}

/** JSON as data where the server says that it is JSON and it is; else the text. */
function parsed(text: string, contentType: string): unknown {
  if (!/[/+]json\b/.test(contentType)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function deadline(clock: Clock, timeoutMs: number) {
  const control = new AbortController();
  const stop = clock.setTimeout(() => {
    control.abort(
      new ToolError("REQUEST_TIMEOUT", `No answer within ${timeoutMs} ms.`, "Give a larger timeout_ms."),
    );
  }, timeoutMs);
  return { signal: control.signal, stop };
}

function describe(error: unknown): { code: string; message: string } {
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    return { code: error.code, message: error.message };
  }
  return { code: "APP_UNREACHABLE", message: error instanceof Error ? error.message : String(error) };
}
