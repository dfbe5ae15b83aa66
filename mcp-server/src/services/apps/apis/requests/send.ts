import type { ApiRequest } from "../../../../domain/index.ts";
import { ToolError } from "../../../../errors.ts";
import type { AllowedRequest } from "../../../policy/allowedFetch.ts";
import type { Uploads } from "../../../policy/uploads.ts";
import type { Clock, Secrets } from "../../../ports.ts";
import { type Answer, answerOf } from "./answer.ts";
import { curlLine } from "./curl.ts";
import { type Judged, judge, judgeTime } from "./judge.ts";
import { bodyOf, headersOf } from "./requestBody.ts";
import type { SchemaChecker } from "./schemaChecker.ts";
import { withoutSecrets } from "./withoutSecrets.ts";

export type SendPorts = {
  http(url: string, init: AllowedRequest): Promise<Response>;
  schemas: Pick<SchemaChecker, "check">;
  uploads: Pick<Uploads, "path">;
  secrets: Secrets;
  clock: Clock;
};

/** Where a request belongs: its run's or call's end, cookies, connections and environment. */
export type Sending = Pick<AllowedRequest, "cookies" | "connections" | "environment" | "grant"> & {
  signal: AbortSignal;
};

/** `judged` has every check in order. Without an `answer` it has only those of the time, which is over. */
export type Sent = { judged: Judged[]; answer?: Answer; curl: string } | { failure: unknown; curl: string };

/**
 * Sends a request and judges its answer. What the app or the network did is in the result; `failure` is the error of a request
 * without an answer. Secrets are filled in, and masked in `curl` only. Throws the reason of the caller's signal.
 */
export async function sendRequest(asked: ApiRequest, sending: Sending, ports: SendPorts): Promise<Sent> {
  const timer = deadline(asked.timeout_ms, ports.clock);
  const { signal, ...place } = sending;
  // As it goes out: the answer may set others.
  const curl = ports.secrets.mask(curlLine(asked, sending.cookies?.for(asked.url) ?? ""));
  let started = ports.clock.monotonic();
  try {
    const secret = secretsIn(asked, ports.secrets);
    const body = await bodyOf(asked, ports);
    const response = await ports.http(asked.url, {
      method: asked.method,
      headers: headersOf(asked.headers, body, ports.secrets),
      body: body?.body,
      secret,
      followRedirects: asked.follow_redirects,
      ...place,
      sending: () => {
        started = ports.clock.monotonic();
      },
      signal: AbortSignal.any([signal, timer.signal]),
    });
    const answer = await answerOf(response, ports.clock.monotonic() - started);
    const judges = {
      check: (...given: Parameters<SchemaChecker["check"]>) => ports.schemas.check(...given),
      hide: <T>(value: T) => withoutSecrets(value, ports.secrets.maskValues),
    };
    return { answer, judged: await judge(ports.secrets.fill(asked.checks), answer, judges), curl };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const isLate = timer.signal.aborted && !wasNotSent(error);
    const late = isLate ? lateAnswer(asked) : [];
    if (late.length > 0) return { judged: late, curl };
    return { failure: isLate ? timer.signal.reason : error, curl };
  } finally {
    timer.stop();
  }
}

/** Which parts hold secrets. Throws SECRET_NOT_ALLOWED where one may not go to the address. */
function secretsIn({ url, headers, body, form, multipart }: ApiRequest, secrets: Secrets) {
  secrets.allow({ headers, body, form, multipart }, { url });
  const holdsOne = (value: unknown) => secrets.named(value).length > 0;
  return {
    headers: Object.keys(headers)
      .filter((name) => holdsOne([name, headers[name]]))
      .map(secrets.fill),
    body: holdsOne({ body, form, multipart }),
  };
}

/** Its time went by while it waited for the limit of its host. */
const wasNotSent = (error: unknown) => error instanceof ToolError && error.code === "RATE_LIMITED";

/** An answer that did not come within the time of a check broke that check. */
function lateAnswer({ checks, timeout_ms }: ApiRequest): Judged[] {
  return checks.flatMap(({ time_below_ms: limit }) =>
    limit === undefined || limit > timeout_ms ? [] : [judgeTime(limit, timeout_ms)],
  );
}

function deadline(timeoutMs: number, clock: Clock) {
  const control = new AbortController();
  const stop = clock.setTimeout(() => {
    const hint = "See whether the API ends its answer, or give a larger timeout_ms.";
    control.abort(new ToolError("REQUEST_TIMEOUT", `No whole answer within ${timeoutMs} ms.`, hint));
  }, timeoutMs);
  return { signal: control.signal, stop };
}
