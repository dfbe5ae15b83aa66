import { ToolFailure } from "@labwright/agent-client";
import { z } from "zod";
import { messageOf } from "../waiting.ts";
import type { Work } from "./work.ts";

const infoSchema = z.object({
  state: z.string(),
  unavailable: z.array(z.object({ kind: z.string(), reason: z.string() })),
});

/** `cannotBeUsed` says what is not usable and why; undefined when everything is. */
export async function infoOf({ call }: Pick<Work, "call">, device: string, signal: AbortSignal) {
  const { state, unavailable } = await call("get_device_info", { device_id: device }, infoSchema, signal);
  const parts = unavailable.map(({ kind, reason }) => `${kind} (${reason.slice(0, 300)})`);
  const cannotBeUsed = parts.length > 0 ? `cannot be used: ${parts.join(", ")}`.slice(0, 1_900) : undefined;
  return { state, cannotBeUsed };
}

/** Looks, secures the device if it is free, looks once more and gives it back. What cannot be seen is said so. */
export async function lookTwice(
  work: Work,
  device: string,
): Promise<{ summary: string; evidence: string[] }> {
  const { state, picture, evidence } = await lookOnce(work, device);
  if (state !== "free" || work.agent.config.dry_run) {
    const held = state === undefined || state === "free" ? "" : ` It is ${state}, so it was not taken.`;
    return { summary: `${seen(picture)}${held}`, evidence };
  }
  return givingBack(work, device, async () => {
    const { call, signal } = work;
    const taken = await evidenceOf(evidence, "take_control", () =>
      call("take_control", { device_id: device }, z.object({}), signal),
    );
    if (!taken) return { summary: `${seen(picture)} It could not be secured.`, evidence };
    const second = await lookOnce(work, device);
    const change = picture === second.picture ? "stood still" : "changed";
    const compared = picture !== undefined && second.picture !== undefined ? ` The picture ${change}.` : "";
    return { summary: `${seen(second.picture)}${compared}`, evidence: [...evidence, ...second.evidence] };
  });
}

async function lookOnce({ call, signal }: Work, device: string) {
  const evidence: string[] = [];
  const info = await evidenceOf(evidence, "get_device_info", () => infoOf({ call }, device, signal));
  if (info)
    evidence.push(`get_device_info: ${[info.state, info.cannotBeUsed].filter((text) => text).join("; ")}`);
  const shot = await evidenceOf(evidence, "capture_screenshot", () =>
    call("capture_screenshot", { device_id: device }, z.object({ artifact: z.string() }), signal),
  );
  if (shot) evidence.push(`capture_screenshot: ${shot.artifact}`);
  return { state: info?.state, picture: shot?.artifact, evidence };
}

const seen = (picture: string | undefined): string =>
  picture === undefined ? "No picture could be taken: its state is unknown." : "A picture was taken.";

/** A tool that fails is evidence too. */
async function evidenceOf<T>(
  evidence: string[],
  tool: string,
  call: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    evidence.push(`${tool} failed: ${messageOf(error)}`);
    return undefined;
  }
}

const givingMs = 10_000;

/**
 * Runs `use` on a device that was free, and gives back what it took; also when the attempt was stopped, since a lease
 * whose answer was lost is ours too. What this misses, the server gives back at its end or its next start.
 */
export async function givingBack<T>(work: Work, device: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } finally {
    const { call, log, task } = work;
    const late = AbortSignal.timeout(givingMs);
    try {
      const { state } = await infoOf(work, device, late);
      if (state.startsWith("yours")) await call("release_control", { device_id: device }, z.object({}), late);
    } catch (error) {
      log({ level: "warn", text: `A device was not given back: ${messageOf(error)}`, task: task.id });
    }
  }
}
