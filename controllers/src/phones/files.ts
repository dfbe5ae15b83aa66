import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import { type Command, type ControllerContext, defineCommand } from "../contract.ts";
import { sendInput } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";

/** The largest file that is copied. */
export const mostPulledBytes = 200_000_000;

export const copyTime = { timeout_ms: z.int().min(1).max(600_000).default(120_000) };
export const uploadName = z.string().min(1).max(500);
const devicePath = z
  .string()
  .regex(
    /^[/@][^\0]{1,500}$/,
    "a path on the device begins with /, or on iOS with @ and the app's bundle id",
  );

/** How a driver copies files; each path is of this machine, each `target` of the device. */
export type FilePort = {
  /** The default target for a file of this name. Throws INVALID_PARAMS where there is no such place. */
  target(name: string): string;
  push(path: string, target: string, timeoutMs: number, signal: AbortSignal): Promise<void>;
  pull(target: string, path: string, timeoutMs: number, signal: AbortSignal): Promise<void>;
};

/** Files to the device, from the uploads folder alone, and from it. */
export function fileCommands(context: ControllerContext, files: FilePort): Command[] {
  const pushInput = z.strictObject({
    file: uploadName.describe("Name of a file in the uploads folder."),
    to: devicePath
      .optional()
      .describe("Path on the device; on Android /sdcard/Download with the file's name when left out."),
    ...copyTime,
  });
  const pullInput = z.strictObject({
    path: devicePath.describe("A file on the device that may be read, such as /sdcard/Download/report.pdf."),
    ...copyTime,
  });
  return [
    defineCommand<typeof pushInput>({
      name: "push_file",
      description: "Copies a file to the device.",
      effect: "write",
      input: pushInput,
      async run({ file, to, timeout_ms }, signal) {
        const path = await uploaded(context, file);
        const target = to ?? files.target(basename(path));
        await sendInput(() => files.push(path, target, timeout_ms, signal));
        return { message: `copied ${basename(path)} to ${target}`, isNews: true };
      },
    }),
    defineCommand<typeof pullInput>({
      name: "pull_file",
      description: "Copies a file of the device into an artifact of the server.",
      effect: "read",
      input: pullInput,
      async run({ path, timeout_ms }, signal) {
        const file = join(await context.temporaryFolder(), "pulled");
        await files.pull(path, file, timeout_ms, signal);
        return { message: `copied ${path}`, file };
      },
    }),
  ];
}

/** Throws PATH_DENIED, and INVALID_PARAMS where there is no such file. */
export async function uploaded(
  context: Pick<ControllerContext, "uploadPath">,
  name: string,
): Promise<string> {
  const path = context.uploadPath(name);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return path;
  const message = `There is no file ${JSON.stringify(name)} in the uploads folder. Put it there, or correct its name.`;
  throw new DeviceError("INVALID_PARAMS", message);
}

/** Throws INVALID_PARAMS for a file that is too large to be copied. */
export function demandSmall(path: string, size: number): void {
  if (size <= mostPulledBytes) return;
  throw new DeviceError(
    "INVALID_PARAMS",
    `${path} has ${size} bytes, and at most ${mostPulledBytes} are copied. Choose a smaller file.`,
  );
}
