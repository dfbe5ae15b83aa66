import { type ClientRequest, type IncomingHttpHeaders, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { DeviceError } from "../errors.ts";
import type { Moment } from "../ports.ts";
import { withDeadline } from "../waiting/deadlines.ts";
import { answerMs } from "./exchange.ts";
import { lost, offline, type Place, reasonOf, refused, silent, unauthorized } from "./failures.ts";
import { lookupBy, type Reach } from "./sockets.ts";

export type Answer = {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
  sentAt: Moment;
};
export type Request = {
  url: string;
  method?: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** The longest wait for the whole answer, in milliseconds. */
  ms?: number;
};

const mostBytes = 2_000_000;

/**
 * One request, on a connection of its own: one that is kept may have ended, and nothing is sent twice. Follows no redirect. Any status
 * below 300 or from 400 on is an answer. Throws URL_DENIED, DEVICE_OFFLINE, COMMAND_TIMEOUT, TRANSPORT_LOST, and DEVICE_ERROR for a
 * redirect or more than 2 MB.
 */
export async function askHttp(
  { url: address, method = "GET", headers = {}, body, ms = answerMs }: Request,
  { place, reach }: { place: Place; reach: Reach },
  signal: AbortSignal,
): Promise<Answer> {
  signal.throwIfAborted();
  const url = new URL(address);
  const isSecure = url.protocol === "https:";
  reach.allowHost(url.hostname.replace(/^\[|\]$/g, ""), Number(url.port || (isSecure ? 443 : 80)));
  const limit = withDeadline(signal, ms);
  const state: { sentAt?: Moment } = {};
  try {
    const options = { method, headers, lookup: lookupBy(reach), agent: false, signal: limit.signal };
    const request = (isSecure ? secureRequest : plainRequest)(url, options);
    request.on("finish", () => (state.sentAt = performance.now()));
    const answer = await readAnswer(request, body, place);
    if (answer.status < 300 || answer.status >= 400)
      return { ...answer, sentAt: state.sentAt ?? performance.now() };
    const said = `it redirects (HTTP ${answer.status})`;
    throw refused(place, said, "Give its own address in the configuration.");
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(error, place, { isSent: state.sentAt !== undefined, isLate: limit.over(), ms });
  } finally {
    limit.done();
  }
}

/** A server: `root` is its address without a path. `denied` says what HTTP 401 and 403 mean, and `mend` what to do for other refusals. */
export type HttpPeer = Place & {
  root: string;
  headers?: Readonly<Record<string, string>>;
  reach: Reach;
  denied: { reason: string; fix: string };
  mend: string;
};

/** An answer that is not a refusal. `json` is the body. Throws what {@link askHttp} throws, DEVICE_UNAUTHORIZED, and DEVICE_ERROR for a refusal. */
export async function askPeer(
  peer: HttpPeer,
  path: string,
  { method, json }: { method?: "GET" | "POST"; json?: string },
  signal: AbortSignal,
): Promise<Answer> {
  const { headers } = peer;
  const request: Request = { url: new URL(path, peer.root).href, headers: { ...headers } };
  if (method) request.method = method;
  if (json !== undefined) {
    request.body = json;
    request.headers = { "content-type": "application/json", ...headers };
  }
  const answer = await askHttp(request, { place: peer, reach: peer.reach }, signal);
  const { status, text } = answer;
  const { reason, fix } = peer.denied;
  if (status === 401 || status === 403) throw unauthorized(peer, `${reason} (HTTP ${status})`, fix);
  if (status >= 400) throw refused(peer, `HTTP ${status} for ${path} ${text}`, peer.mend);
  return answer;
}

function failureOf(
  error: unknown,
  place: Place,
  { isSent, isLate, ms }: { isSent: boolean; isLate: boolean; ms: number },
): DeviceError {
  if (error instanceof DeviceError) return error;
  if (isSent) return isLate ? silent(place, ms) : lost(place);
  return offline(place, isLate ? `no connection within ${ms / 1_000} s` : reasonOf(error));
}

function readAnswer(
  request: ClientRequest,
  body: string | Uint8Array | undefined,
  place: Place,
): Promise<Omit<Answer, "sentAt">> {
  return new Promise((resolve, reject) => {
    request.on("response", (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes <= mostBytes) return void parts.push(part);
        reject(refused(place, "its answer is larger than 2 MB", "Check that its address is right."));
        request.destroy();
      });
      response.on("error", reject);
      response.on("end", () => {
        const { statusCode: status = 0, headers } = response;
        const all = Buffer.concat(parts);
        resolve({ status, headers, bytes: all, text: all.toString("utf8") });
      });
    });
    request.on("error", reject);
    request.end(body);
  });
}
