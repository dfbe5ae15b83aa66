import { stat } from "node:fs/promises";
import { z } from "zod";
import type { CommandOffer, ControllerContext } from "../contract.ts";
import { DeviceError } from "../errors.ts";

/** A file that is pulled becomes an artifact of the server. */
export const mostPulledBytes = 200_000_000;

/** Parameters of commands that copy a file. */
export const copyTime = { timeout_ms: z.int().min(1).max(600_000).default(120_000) };
export const uploadName = z.string().min(1).max(500);
const devicePath = z
  .string()
  .regex(
    /^[/@][^\0]{1,500}$/,
    "a path on the device begins with /, or on iOS with @ and the app's bundle id",
  );

/** Files to the device, from the uploads folder alone, and from it. */
export const fileOffers = {
  push_file: {
    name: "push_file",
    description: "Copies a file to the device.",
    effect: "write",
    input: z.strictObject({
      file: uploadName.describe("Name of a file in the uploads folder."),
      to: devicePath
        .optional()
        .describe("Path on the device; on Android /sdcard/Download with the file's name when left out."),
      ...copyTime,
    }),
  },
  pull_file: {
    name: "pull_file",
    description: "Copies a file of the device into an artifact of the server.",
    effect: "read",
    input: z.strictObject({
      path: devicePath.describe(
        "A file on the device that may be read, such as /sdcard/Download/report.pdf.",
      ),
      ...copyTime,
    }),
  },
} as const satisfies Record<string, CommandOffer>;

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

export const tooLarge = (path: string, size: number) =>
  new DeviceError(
    "INVALID_PARAMS",
    `${path} has ${size} bytes, and at most ${mostPulledBytes} are copied. Choose a smaller file.`,
  );
