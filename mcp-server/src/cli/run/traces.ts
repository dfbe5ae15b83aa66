import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { done, type RunConnection, unending } from "./connection.ts";
import type { Slot } from "./slots.ts";

export type TraceOptions = {
  /** Keeps the trace of a test that did not pass, or not at once. */
  trace?: "on-failure" | undefined;
};

const startedSchema = z.looseObject({ recording_id: z.string() });
const stoppedSchema = z.looseObject({
  files: z.array(z.looseObject({ kind: z.string(), uri: z.string(), bytes: z.number() })),
  lost: z.array(z.string()).default([]),
});

/** The longest recording. */
const mostMs = 3_600_000;

/**
 * Traces what `work` does on the device, and writes the trace into `folder` where `nameOf` gives a name for how it ended. A
 * browser context has a file of its own; the largest comes first. Says why where there is no trace.
 */
export async function traced<Ended>(
  work: () => Promise<Ended>,
  nameOf: (ended: Ended) => string | undefined,
  {
    slot,
    folder,
    connection,
    err,
  }: { slot: Slot; folder: string; connection: RunConnection; err(text: string): void },
): Promise<{ ended: Ended; traces: string[] }> {
  const { session_id } = slot;
  const args = { session_id, video: false, trace: true, max_ms: mostMs };
  const answer = await connection.call("start_recording", args, unending());
  if (!answer.ok) {
    err(`no trace: ${answer.error.message}\n`);
    return { ended: await work(), traces: [] };
  }
  const { recording_id } = startedSchema.parse(answer.structured);
  const stop = () => done(connection.call("stop_recording", { recording_id }, unending()));
  let ended: Ended;
  try {
    ended = await work();
  } catch (error) {
    await stop();
    throw error;
  }
  const { files, lost } = stoppedSchema.parse(await stop());
  const name = nameOf(ended);
  if (name === undefined) return { ended, traces: [] };
  if (lost.length > 0) err(`no whole trace: ${lost.join("; ")}\n`);
  await mkdir(folder, { recursive: true });
  const traces: string[] = [];
  for (const { uri } of files.toSorted((a, b) => b.bytes - a.bytes)) {
    const path = join(folder, `${name}${traces.length > 0 ? `-${traces.length + 1}` : ""}.zip`);
    await writeFile(path, await connection.artifact(uri));
    traces.push(path);
  }
  return { ended, traces };
}
