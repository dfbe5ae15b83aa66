import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { basename, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import {
  copyTime,
  fileOffers,
  mostPulledBytes,
  tooLarge,
  uploaded,
  uploadName,
} from "../../screens/files.ts";
import { poll } from "../../waiting/deadlines.ts";
import type { Link } from "../link.ts";
import type { AndroidSession } from "../session.ts";
import { isFull, saidBy, storageFull } from "./uploads.ts";

/** The media store has a file by then, or does not take it. */
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

/** Files to the device, from the uploads folder alone, and from it. */
export const fileCommands = (session: AndroidSession): Command[] => [
  pushFile(session),
  addMedia(session),
  pullFile(session),
];

function pushFile({ context, device }: AndroidSession): Command {
  return defineCommand({
    ...fileOffers.push_file,
    async run({ file, to, timeout_ms }, signal) {
      const path = await uploaded(context, file);
      const target = to ?? `/sdcard/Download/${basename(path)}`;
      await send(device.link(), { path, target, timeoutMs: timeout_ms }, signal);
      return { message: `copied ${basename(path)} to ${target}`, isNews: true };
    },
  });
}

function addMedia({ context, device }: AndroidSession): Command {
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
      await send(link, { path, target, timeoutMs: timeout_ms }, signal);
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

function pullFile({ context, device }: AndroidSession): Command {
  return defineCommand({
    ...fileOffers.pull_file,
    async run({ path, timeout_ms }, signal) {
      const file = join(await context.temporaryFolder(), "pulled");
      try {
        await device.link().sendFiles(
          async (kit) => {
            const found = await kit.stat(path);
            if (found.isDirectory()) throw noFile(path);
            const { size } = found;
            if (size > mostPulledBytes) throw tooLarge(path, size);
            await pipeline(await kit.pull(path), createWriteStream(file, { mode: 0o600 }), { signal });
          },
          timeout_ms,
          signal,
        );
      } catch (error) {
        throw error instanceof DeviceError ? error : pullFailure(path, error);
      }
      return { message: `copied ${path}`, file };
    },
  });
}

const noFile = (path: string) => new DeviceError("INVALID_PARAMS", `${path} is a folder. Name a file in it.`);

/** Throws DEVICE_ERROR, STORAGE_FULL. */
async function send(
  link: Link,
  { path, target, timeoutMs }: { path: string; target: string; timeoutMs: number },
  signal: AbortSignal,
): Promise<void> {
  try {
    await link.sendFiles(
      async (kit) => {
        const transfer = await kit.push(createReadStream(path), target);
        await once(transfer, "end");
      },
      timeoutMs,
      signal,
    );
  } catch (error) {
    throw error instanceof DeviceError ? error : pushFailure(target, error);
  }
}

function pushFailure(target: string, error: unknown): DeviceError {
  if (isFull(saidBy(error))) return storageFull(`write ${target}`);
  return new DeviceError(
    "DEVICE_ERROR",
    `The device did not take ${target}: ${saidBy(error)}. Choose a folder that may be written, such as /sdcard/Download.`,
  );
}

function pullFailure(path: string, error: unknown): DeviceError {
  return new DeviceError(
    "DEVICE_ERROR",
    `The device did not give ${path}: ${saidBy(error)}. Name a file that exists and that adb may read, such as one in /sdcard.`,
  );
}
