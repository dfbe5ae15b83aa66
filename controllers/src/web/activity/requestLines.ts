import type { RequestLine } from "../../ports.ts";
import { shownAnswer, shownSent, shownText } from "./bodies.ts";
import type { Mocks } from "./mocks.ts";
import type { SeenRequest } from "./traffic.ts";

const LONGEST_URL = 1_000;

/** A request that got no answer, or one with a status of 400 or more; not one that is under way or that the page gave up. */
export function isFailed({ request, failure }: SeenRequest): boolean {
  if ((request.existingResponse()?.status() ?? 0) >= 400) return true;
  return failure !== undefined && !/ABORTED|CANCELLED/i.test(failure);
}

/** A request as replies and reports show it; with `bodies`, what was sent and came back. Never throws, and takes a second at most. */
export async function requestLine(
  seen: SeenRequest,
  { answered }: Pick<Mocks, "answered">,
  bodies: boolean,
): Promise<RequestLine> {
  const { request, at, ms } = seen;
  const isMocked = answered.has(request);
  const status = request.existingResponse()?.status();
  const sent = bodies ? shownSent(request) : undefined;
  // Chromium reports a mock's answer as aborted if the page does not read its body.
  const failure = isMocked && status !== undefined ? undefined : seen.failure;
  const body = answered.get(request);
  const shown = () => (body === undefined ? shownAnswer(request) : body === "" ? undefined : shownText(body));
  const answer = bodies ? await shown() : undefined;
  return {
    at: new Date(at).toISOString(),
    method: request.method(),
    url: shownText(request.url(), LONGEST_URL),
    type: request.resourceType(),
    ...(status !== undefined && { status }),
    ...(failure !== undefined && { failure: shownText(failure, LONGEST_URL) }),
    ...(ms !== undefined && { ms }),
    ...(isMocked && { mocked: true }),
    ...(sent !== undefined && { sent }),
    ...(answer !== undefined && { answer }),
  };
}
