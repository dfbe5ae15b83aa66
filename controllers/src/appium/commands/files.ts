import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { fileOffers, mostPulledBytes, tooLarge, uploaded } from "../../screens/files.ts";
import type { AppiumSession } from "../session.ts";

/** Files as WebDriver carries them, whole and in base64. */
export const fileCommands = ({ context, device }: AppiumSession): Command[] => [
  defineCommand({
    ...fileOffers.push_file,
    async run({ file, to, timeout_ms }, signal) {
      const path = await uploaded(context, file);
      const target = to ?? defaultTarget(device.facts().platform, basename(path));
      const bytes = await readFile(path);
      if (bytes.length > mostPulledBytes) throw tooLarge(file, bytes.length);
      await device.call("pushFile", [target, bytes.toString("base64")], signal, { timeoutMs: timeout_ms });
      return { message: `copied ${basename(path)} to ${target}`, isNews: true };
    },
  }),
  defineCommand({
    ...fileOffers.pull_file,
    async run({ path, timeout_ms }, signal) {
      const given = await device.call("pullFile", [path], signal, { timeoutMs: timeout_ms });
      const bytes = Buffer.from(z.string().parse(given), "base64");
      if (bytes.length > mostPulledBytes) throw tooLarge(path, bytes.length);
      const file = join(await context.temporaryFolder(), "pulled");
      await writeFile(file, bytes, { mode: 0o600 });
      return { message: `copied ${path}`, file };
    },
  }),
];

function defaultTarget(platform: string, name: string): string {
  if (platform === "android") return `/sdcard/Download/${name}`;
  throw new DeviceError(
    "INVALID_PARAMS",
    `iOS has no folder for all apps. Say with to which app gets it, such as @com.example.shop:documents/${name}.`,
  );
}
