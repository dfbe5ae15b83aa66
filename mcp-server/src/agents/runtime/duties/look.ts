import { z } from "zod";
import { ToolFailed } from "../server.ts";
import { leaseSchema } from "./findings.ts";
import type { Work } from "./work.ts";

export type Look = { summary: string; evidence: string[] };

const infoSchema = z.object({
  state: z.string(),
  unavailable: z.array(z.object({ kind: z.string(), reason: z.string() })),
});

/** Looks, secures the device if nobody has it, looks once more and gives it back. What cannot be seen is said so. */
export async function lookTwice(work: Work, device: string): Promise<Look> {
  await giveBackOld(work);
  const first = await lookOnce(work, device);
  if (work.dryRun || first.state !== "free") {
    const held =
      first.state === undefined || first.state === "free"
        ? ""
        : ` It is ${first.state}, so it was not taken.`;
    return { summary: `${seen(first)}${held}`, evidence: first.evidence };
  }
  const lease = await take(work, device);
  if ("refused" in lease)
    return {
      summary: `${seen(first)} It could not be secured.`,
      evidence: [...first.evidence, lease.refused],
    };
  try {
    await work.keep(lease);
    const second = await lookOnce(work, device);
    const still = first.picture !== undefined && first.picture === second.picture;
    const change =
      second.picture === undefined ? "" : still ? " The picture stood still." : " The picture changed.";
    return { summary: `${seen(second)}${change}`, evidence: [...first.evidence, ...second.evidence] };
  } finally {
    await giveBack(work, lease.lease);
  }
}

type OneLook = { state: string | undefined; picture: string | undefined; evidence: string[] };

async function lookOnce(work: Work, device: string): Promise<OneLook> {
  const evidence: string[] = [];
  const info = await tried(work, "get_device_info", { device_id: device }, infoSchema, evidence);
  if (info) {
    const gone = info.unavailable.map(({ kind, reason }) => `${kind}: ${reason}`.slice(0, 300));
    evidence.push(
      `get_device_info: ${info.state}${gone.length > 0 ? `; cannot be used: ${gone.join("; ")}` : ""}`.slice(
        0,
        2_000,
      ),
    );
  }
  const shot = await tried(
    work,
    "capture_screenshot",
    { device_id: device },
    z.object({ artifact: z.string() }),
    evidence,
  );
  if (shot) evidence.push(`capture_screenshot: ${shot.artifact}`);
  return { state: info?.state, picture: shot?.artifact, evidence };
}

const seen = ({ picture }: OneLook): string =>
  picture === undefined ? "No picture could be taken: its state is unknown." : "A picture was taken.";

/** A tool that fails is evidence too. */
async function tried<T>(
  { call, signal }: Work,
  tool: string,
  input: Readonly<Record<string, unknown>>,
  schema: z.ZodType<T>,
  evidence: string[],
): Promise<T | undefined> {
  try {
    return await call(tool, input, schema, signal);
  } catch (error) {
    if (!(error instanceof ToolFailed)) throw error;
    evidence.push(`${tool} failed: ${error.message}`);
    return undefined;
  }
}

async function take(
  { call, signal, log, task }: Work,
  device: string,
): Promise<{ lease: string } | { refused: string }> {
  try {
    const { session_id } = await call(
      "take_control",
      { device_id: device },
      z.object({ session_id: z.string() }),
      signal,
    );
    return { lease: session_id };
  } catch (error) {
    if (error instanceof ToolFailed) return { refused: `take_control failed: ${error.message}` };
    // Stopped on the way: the answer may have been lost, and not the lease.
    await giveBackOurs({ call, log, task }, device);
    throw error;
  }
}

/** What a try before this one took and could not give back. */
async function giveBackOld(work: Work): Promise<void> {
  const old = leaseSchema.safeParse(work.task.finding);
  if (old.success) await giveBack(work, old.data.lease);
}

const givingMs = 10_000;

/** Also when the try was stopped: a device that nobody gives back is nobody's for minutes. */
async function giveBack({ call, log, task }: Work, lease: string): Promise<void> {
  try {
    await call("release_control", { session_id: lease }, z.object({}), AbortSignal.timeout(givingMs));
  } catch (error) {
    const gone = error instanceof ToolFailed && error.code.startsWith("LEASE_");
    if (!gone) log({ level: "warn", text: `A device was not given back: ${String(error)}`, task: task.id });
  }
}

/** Runs what a model does, and gives the device back if it was free before and is ours after. */
export async function givingBack<T>(
  work: Work,
  device: string | undefined,
  run: () => Promise<T>,
): Promise<T> {
  if (device === undefined) return run();
  await giveBackOld(work);
  const wasFree = (await lookState(work, device, work.signal)) === "free";
  try {
    return await run();
  } finally {
    if (wasFree) await giveBackOurs(work, device);
  }
}

/** Only for a device that was free before: what somebody else of this process holds is ours by name too. */
async function giveBackOurs(
  { call, log, task }: Pick<Work, "call" | "log" | "task">,
  device: string,
): Promise<void> {
  const late = AbortSignal.timeout(givingMs);
  if (!(await lookState({ call }, device, late))?.startsWith("yours")) return;
  await call("release_control", { device_id: device }, z.object({}), late).catch((error: unknown) => {
    log({ level: "warn", text: `A device was not given back: ${String(error)}`, task: task.id });
  });
}

const lookState = (
  { call }: Pick<Work, "call">,
  device: string,
  signal: AbortSignal,
): Promise<string | undefined> =>
  call("get_device_info", { device_id: device }, infoSchema, signal).then(
    ({ state }) => state,
    () => undefined,
  );
