import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { z } from "zod";
import { DeviceError } from "../../errors.ts";
import { demandSmall, type FilePort, mostPulledBytes } from "../../phones/files.ts";
import { answerAs } from "../failures.ts";
import type { AppiumSession } from "../session.ts";

/** The largest file that is copied, in base64 and JSON. */
const mostAnswerBytes = Math.ceil((mostPulledBytes / 3) * 4) + 1_000;

export const createFiles = ({ device }: AppiumSession): FilePort => ({
  target(name) {
    if (device.facts().platform === "android") return `/sdcard/Download/${name}`;
    throw new DeviceError(
      "INVALID_PARAMS",
      `iOS has no folder for all apps. Say with to which app gets it, such as @com.example.shop:documents/${name}.`,
    );
  },
  async push(path, target, timeoutMs, signal) {
    const bytes = await readFile(path);
    demandSmall(basename(path), bytes.length);
    await device.call("pushFile", [target, bytes.toString("base64")], signal, { timeoutMs });
  },
  async pull(target, path, timeoutMs, signal) {
    const given = await device.call("pullFile", [target], signal, { timeoutMs, mostBytes: mostAnswerBytes });
    const bytes = Buffer.from(answerAs(z.string(), "pullFile", given), "base64");
    demandSmall(target, bytes.length);
    await writeFile(path, bytes, { mode: 0o600 });
  },
});
