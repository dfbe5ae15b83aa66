import { DeviceError } from "../errors.ts";
import { atMost } from "../waiting/deadlines.ts";
import type { MakeOutlet } from "./outlet.ts";

/** Answers of plugs have some hundred bytes; those of a whole Home Assistant entity some thousand. */
const mostBytes = 256_000;
const answerMs = 8_000;

export type Asked = {
  method?: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array | string;
};
export type Answer = { status: number; headers: Headers; bytes: Uint8Array };

/** Asks one address; every status is an answer. Follows no redirects. Throws URL_DENIED, DEVICE_OFFLINE, DEVICE_ERROR. */
export async function ask(
  url: URL,
  { method = "GET", headers = {}, body }: Asked,
  policy: Parameters<MakeOutlet<unknown>>[1],
  signal: AbortSignal,
): Promise<Answer> {
  policy.allowUrl(`${url.origin}/`);
  try {
    const answer = await fetch(url, {
      method,
      headers: { ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : Uint8Array.from(body) }),
      redirect: "manual",
      signal: atMost(signal, answerMs),
    });
    return { status: answer.status, headers: answer.headers, bytes: await bounded(answer, url) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DeviceError) throw error;
    throw new DeviceError(
      "DEVICE_OFFLINE",
      `${url.host} did not answer within ${answerMs / 1_000} s (${causeOf(error)}). Check that it is on, in this network, and that its address in the settings is right.`,
      {},
      { cause: error },
    );
  }
}

async function bounded(answer: Response, { host }: URL): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    bytes += part.length;
    if (bytes > mostBytes) throw unexpected(host, `more than ${mostBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const causeOf = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : cause instanceof Error ? cause.name : "unknown reason";
};

/** The JSON of an answer with status 200 to 299. Throws DEVICE_UNAUTHORIZED, DEVICE_ERROR. */
export function jsonOf({ status, bytes }: Answer, host: string): unknown {
  if (status === 401 || status === 403) throw refused(host);
  if (status < 200 || status > 299) throw unexpected(host, `HTTP ${status}`);
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    throw unexpected(host, "no JSON");
  }
}

export const refused = (host: string) =>
  new DeviceError(
    "DEVICE_UNAUTHORIZED",
    `${host} refused the user, password or token. Correct them in the device's settings.`,
  );

export const unexpected = (host: string, what: string) =>
  new DeviceError(
    "DEVICE_ERROR",
    `${host} answered with ${what}, which this driver does not know. Check the address and that the driver fits the device.`,
  );
