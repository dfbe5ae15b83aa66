import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { done, type RunConnection, unending } from "./connection.ts";
import type { Slot } from "./slots.ts";

/** Each keeps what was recorded of a test that did not pass, or not at once. */
export type RecordingOptions = { trace?: "on-failure" | undefined; video?: "on-failure" | undefined };

const startedSchema = z.looseObject({ recording_id: z.string(), records: z.array(z.string()) });
const file = z.looseObject({ kind: z.string(), uri: z.string(), mime_type: z.string(), bytes: z.number() });
const stoppedSchema = z.looseObject({ files: z.array(file), lost: z.array(z.string()).default([]) });

/** The longest recording. */
const mostMs = 3_600_000;

/**
 * Records what `work` does on the device, and writes the files into `videos` and `traces` of `folder` where `nameOf` gives a name for
 * how it ended. A browser context has a trace of its own; the largest comes first. Says why where a video or trace is missing.
 */
export async function recorded<Ended>(
  work: () => Promise<Ended>,
  nameOf: (ended: Ended) => string | undefined,
  options: RecordingOptions & {
    slot: Slot | undefined;
    folder: string;
    connection: RunConnection;
    err(text: string): void;
  },
): Promise<{ ended: Ended; files: string[] }> {
  const { slot, folder, connection, err } = options;
  const kinds = (["video", "trace"] as const).filter((kind) => options[kind] !== undefined);
  if (slot === undefined || kinds.length === 0) return { ended: await work(), files: [] };
  const [video, trace] = [kinds.includes("video"), kinds.includes("trace")];
  const args = { session_id: slot.session_id, video, trace, max_ms: mostMs };
  const answer = await connection.call("start_recording", args, unending());
  if (!answer.ok) {
    err(`no ${kinds.join(" and ")}: ${answer.error.message}\n`);
    return { ended: await work(), files: [] };
  }
  const { recording_id, records } = startedSchema.parse(answer.structured);
  const missing = kinds.filter((kind) => !records.includes(kind));
  if (missing.length > 0) err(`no ${missing.join(" and ")}: this device records ${records.join(" and ")}\n`);
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
  if (name === undefined) return { ended, files: [] };
  if (lost.length > 0) err(`not all was recorded: ${lost.join("; ")}\n`);
  return { ended, files: await writeFiles(files, { folder, name, connection }) };
}

async function writeFiles(
  files: readonly z.output<typeof file>[],
  { folder, name, connection }: { folder: string; name: string; connection: RunConnection },
): Promise<string[]> {
  const paths: string[] = [];
  for (const { kind, uri, mime_type } of files.toSorted((a, b) => b.bytes - a.bytes)) {
    const of = join(folder, `${kind}s`, name);
    const before = paths.filter((path) => path.startsWith(of)).length;
    const path = `${of}${before > 0 ? `-${before + 1}` : ""}.${mime_type.split("/")[1]}`;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, await connection.artifact(uri));
    paths.push(path);
  }
  return paths;
}
