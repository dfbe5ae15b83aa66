import { type ClientRequest, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { DeviceError } from "../errors.ts";
import type { Moment } from "../ports.ts";
import { withDeadline } from "../waiting/deadlines.ts";
import { answerMs } from "./exchange.ts";
import { lost, offline, type Place, reasonOf, refused, silent, unauthorized } from "./failures.ts";
import { lookupBy, type Reach } from "./sockets.ts";

/** A server: `root` is its address without a path. `denied` says what HTTP 401 and 403 mean, and `mend` what to do for other refusals. */
export type HttpPeer = Place & {
  root: string;
  headers?: Readonly<Record<string, string>>;
  reach: Reach;
  denied: { reason: string; fix: string };
  mend: string;
};
export type Answer = { status: number; text: string; sentAt: Moment };
type Request = { method?: "GET" | "POST"; body?: string };

const mostBytes = 2_000_000;

/**
 * One request, on a connection of its own: one that is kept may have ended, and nothing is sent twice. Throws URL_DENIED, DEVICE_OFFLINE,
 * DEVICE_UNAUTHORIZED, COMMAND_TIMEOUT, TRANSPORT_LOST, and DEVICE_ERROR for a redirect, another refusal or more than 2 MB.
 */
export async function askHttp(
  peer: HttpPeer,
  path: string,
  { method = "GET", body }: Request,
  signal: AbortSignal,
): Promise<Answer> {
  signal.throwIfAborted();
  const url = new URL(path, peer.root);
  const isSecure = url.protocol === "https:";
  peer.reach.allowHost(url.hostname.replace(/^\[|\]$/g, ""), Number(url.port || (isSecure ? 443 : 80)));
  const limit = withDeadline(signal, answerMs);
  const state: { sentAt?: Moment } = {};
  try {
    const options = { lookup: lookupBy(peer.reach), agent: false, signal: limit.signal };
    const headers = { ...(body !== undefined && { "content-type": "application/json" }), ...peer.headers };
    const request = (isSecure ? secureRequest : plainRequest)(url, { method, headers, ...options });
    request.on("finish", () => (state.sentAt = performance.now()));
    const answer = await readAnswer(request, body, peer);
    judge(peer, path, answer);
    return { ...answer, sentAt: state.sentAt ?? performance.now() };
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(error, peer, { isSent: state.sentAt !== undefined, isLate: limit.over() });
  } finally {
    limit.done();
  }
}

function failureOf(error: unknown, place: Place, { isSent, isLate }: { isSent: boolean; isLate: boolean }) {
  if (error instanceof DeviceError) return error;
  if (isSent) return isLate ? silent(place, answerMs) : lost(place);
  return offline(place, isLate ? `no connection within ${answerMs / 1_000} s` : reasonOf(error));
}

function judge(peer: HttpPeer, path: string, { status, text }: Omit<Answer, "sentAt">): void {
  if (status < 300) return;
  if (status < 400)
    throw refused(peer, `it redirects (HTTP ${status})`, "Give its own address in the configuration.");
  const { reason, fix } = peer.denied;
  if (status === 401 || status === 403) throw unauthorized(peer, `${reason} (HTTP ${status})`, fix);
  throw refused(peer, `HTTP ${status} for ${path} ${text}`, peer.mend);
}

function readAnswer(
  request: ClientRequest,
  body: string | undefined,
  peer: HttpPeer,
): Promise<Omit<Answer, "sentAt">> {
  return new Promise((resolve, reject) => {
    request.on("response", (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes <= mostBytes) return void parts.push(part);
        reject(refused(peer, "its answer is larger than 2 MB", "Check that its address is right."));
        request.destroy();
      });
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") }),
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}
