import type { Page } from "playwright-core";
import type { RequestLine } from "../../ports.ts";
import { shownAnswer, shownSent, shownText } from "./bodies.ts";
import type { Mocks } from "./mocks.ts";
import type { SeenRequest } from "./traffic.ts";

const LONGEST_URL = 1_000;

/** A request that got no answer, or one with a status of 400 or more; not one that is under way or that the page gave up. */
export function isFailed({ request, failure }: SeenRequest): boolean {
  if (failure !== undefined) return !/ABORTED|CANCELLED/i.test(failure);
  return (request.existingResponse()?.status() ?? 0) >= 400;
}

/** Whether the page waits for the request still. */
export const isOpen = ({ ms, request }: SeenRequest): boolean =>
  ms === undefined && request.existingResponse() === null;

/** The tab that a request is of; undefined for that of a worker, and while a tab's first request starts. */
export function pageOf({ request }: SeenRequest): Page | undefined {
  try {
    return request.frame().page();
  } catch {
    return undefined;
  }
}

/** A request as replies and reports show it; with `bodies`, what was sent and came back. Never throws, and takes a second at most. */
export async function requestLine(
  seen: SeenRequest,
  { answered }: Pick<Mocks, "answered">,
  bodies: boolean,
): Promise<RequestLine> {
  const { request, at, ms, failure } = seen;
  const status = request.existingResponse()?.status();
  const sent = bodies ? shownSent(request) : undefined;
  const answer = bodies ? await shownAnswer(request) : undefined;
  return {
    at: new Date(at).toISOString(),
    method: request.method(),
    url: shownText(request.url(), LONGEST_URL),
    type: request.resourceType(),
    ...(status !== undefined && { status }),
    ...(failure !== undefined && { failure: shownText(failure, LONGEST_URL) }),
    ...(ms !== undefined && { ms }),
    ...(answered.has(request) && { mocked: true }),
    ...(sent !== undefined && { sent }),
    ...(answer !== undefined && { answer }),
  };
}
