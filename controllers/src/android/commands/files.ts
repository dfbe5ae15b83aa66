import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { basename, extname } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { sendInput } from "../../dispatch.ts";
import { DeviceError } from "../../errors.ts";
import { copyTime, demandSmall, type FilePort, uploaded, uploadName } from "../../phones/files.ts";
import { poll } from "../../waiting/deadlines.ts";
import type { AndroidSession } from "../session.ts";

/** A file that the media store has not listed by now never will be. */
const scanMs = 10_000;
const lookEveryMs = 200;
/** Android 11; older versions take a broadcast for each file. */
const firstWithScan = 30;
const sharedStorage = "/storage/emulated/0";
const mediaFolders: Readonly<Record<string, readonly string[]>> = {
  Pictures: [".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".heic"],
  Movies: [".mp4", ".webm", ".mkv", ".3gp", ".mov"],
  Music: [".mp3", ".m4a", ".ogg", ".wav", ".flac", ".aac"],
};
const allMedia = Object.values(mediaFolders).flat().join(", ");

export const createFiles = ({ device }: Pick<AndroidSession, "device">): FilePort => ({
  target: (name) => `/sdcard/Download/${name}`,
  async push(path, target, timeoutMs, signal) {
    try {
      await device.link().sendFiles(
        async (kit) => {
          await once(await kit.push(createReadStream(path), target), "end");
        },
        timeoutMs,
        signal,
      );
    } catch (error) {
      if (error instanceof DeviceError) throw error;
      if (isFull(saidBy(error))) throw storageFull(`write ${target}`);
      throw new DeviceError(
        "DEVICE_ERROR",
        `The device did not take ${target}: ${saidBy(error)}. Choose a folder that may be written, such as /sdcard/Download.`,
      );
    }
  },
  async pull(target, path, timeoutMs, signal) {
    try {
      await device.link().sendFiles(
        async (kit) => {
          const found = await kit.stat(target);
          if (found.isDirectory())
            throw new DeviceError("INVALID_PARAMS", `${target} is a folder. Name a file in it.`);
          demandSmall(target, found.size);
          const parts = await kit.pull(target);
          await pipeline(parts, notLarger(target), createWriteStream(path, { mode: 0o600 }), { signal });
        },
        timeoutMs,
        signal,
      );
    } catch (error) {
      if (error instanceof DeviceError) throw error;
      throw new DeviceError(
        "DEVICE_ERROR",
        `The device did not give ${target}: ${saidBy(error)}. Name a file that exists and that adb may read, such as one in /sdcard.`,
      );
    }
  },
});

/** A file may have more than its size said. */
const notLarger = (target: string) =>
  async function* (parts: AsyncIterable<Buffer>) {
    let size = 0;
    for await (const part of parts) {
      size += part.length;
      demandSmall(target, size);
      yield part;
    }
  };

export function mediaCommand({ context, device }: AndroidSession): Command {
  const files = createFiles({ device });
  const input = z.strictObject({
    file: uploadName.describe(`Name of a picture, video or sound in the uploads folder: ${allMedia}.`),
    ...copyTime,
  });
  return defineCommand<typeof input>({
    name: "add_media",
    description: "Puts a picture, video or sound where the gallery and the pickers of apps show it.",
    effect: "write",
    input,
    async run({ file, timeout_ms }, signal) {
      const path = await uploaded(context, file);
      const target = `${sharedStorage}/${folderOf(file)}/${basename(path)}`;
      const link = device.link();
      await sendInput(() => files.push(path, target, timeout_ms, signal));
      await link.run(scanOf(target, device.facts().api), signal, { timeoutMs: timeout_ms });
      const isListed = async () => /^Row: 0/.test((await link.run(queryOf(target), signal)).stdout);
      if (await poll(isListed, { everyMs: lookEveryMs, ms: scanMs, signal }))
        return { message: `${basename(path)} is at ${target}, and the media store lists it`, isNews: true };
      throw new DeviceError(
        "DEVICE_ERROR",
        `${target} is on the device, and its media store did not list it within ${scanMs / 1_000} s. Its gallery may show it after a restart.`,
      );
    },
  });
}

/** Throws INVALID_PARAMS for a file that no gallery shows. */
function folderOf(file: string): string {
  const ending = extname(file).toLowerCase();
  const found = Object.entries(mediaFolders).find(([, endings]) => endings.includes(ending));
  if (found) return found[0];
  const message = `${JSON.stringify(file)} does not end like a picture, video or sound: ${allMedia}. Copy other files with push_file.`;
  throw new DeviceError("INVALID_PARAMS", message);
}

const scanOf = (target: string, api: number): readonly string[] =>
  api >= firstWithScan
    ? [..."content call --uri content://media --method scan_volume --arg external_primary".split(" ")]
    : [..."am broadcast -a android.intent.action.MEDIA_SCANNER_SCAN_FILE -d".split(" "), `file://${target}`];

const queryOf = (target: string): readonly string[] => [
  ..."content query --uri content://media/external/file --projection _data --where".split(" "),
  `_data='${target.replaceAll("'", "''")}'`,
];

export const saidBy = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 300);

export const isFull = (said: string) => /INSUFFICIENT_STORAGE|No space left/i.test(said);

export const storageFull = (what: string) =>
  new DeviceError(
    "STORAGE_FULL",
    `The device has no room to ${what}. Remove apps or files from it, and try again.`,
  );
