import { DeviceError, type FrameSource, type Moment, passes, type VideoFrame } from "@labwright/controllers";
import { strictOf } from "../../../domain/strictOf.ts";
import type { Clock, FirstFrame, OpenDevice, Secrets } from "../../ports.ts";
import { classOf } from "../../records/verdicts.ts";
import { findCheck } from "../findCommand.ts";
import { using } from "../portOf.ts";
import type { Watched } from "./prepare.ts";

type Search = {
  device: OpenDevice;
  frames: FrameSource;
  from: Moment;
  timeoutMs: number;
  signal: AbortSignal;
  clock: Clock;
  secrets: Secrets;
};

/** The first frame since `from` in which all checks hold. Frames that were dropped before their turn widen the error. */
export async function findFirstFrame(watched: readonly Watched[], search: Search): Promise<FirstFrame> {
  const intervalMs = 1_000 / search.frames.perSecond;
  let before: VideoFrame | undefined;
  for await (const frame of framesSince(search, intervalMs)) {
    const hold = await Promise.all(watched.map((one) => holdsIn(one, frame, search)));
    const unseenMs = frame.arrivedAt - (before?.arrivedAt ?? frame.arrivedAt);
    if (hold.every(Boolean)) return { at: frame.arrivedAt, errorMs: Math.max(intervalMs, unseenMs) };
    before = frame;
  }
  return undefined;
}

async function* framesSince({ frames, from, timeoutMs, signal, clock }: Search, intervalMs: number) {
  const until = from + timeoutMs;
  let last = { number: 0, arrivedAt: from };
  for (;;) {
    for (const frame of frames.ring(last.arrivedAt)) {
      if (frame.number <= last.number) continue;
      if (frame.arrivedAt > until) return;
      last = frame;
      yield frame;
    }
    if (performance.now() > until) return;
    await clock.sleep(intervalMs, signal);
  }
}

/** A frame in which a check cannot be made, or is inconclusive, does not show it. */
async function holdsIn(
  { asked, params, timeoutMs }: Watched,
  frame: VideoFrame,
  { device, from, signal, secrets }: Search,
): Promise<boolean> {
  const found = findCheck(device, asked.command, asked.type);
  if (!found) return false;
  const { controller, offered: check } = found;
  const input = strictOf(check.input).parse(secrets.fill(params));
  try {
    const options = { ms: timeoutMs, since: from, frame };
    const reading = await using(device, controller, signal, () => check.read(input, signal, options));
    return passes(check, input, reading, asked.negate === true);
  } catch (error) {
    if (signal.aborted || !(error instanceof DeviceError) || classOf(error.code) === "broken") throw error;
    return false;
  }
}
