import { join } from "node:path";
import type { InstalledAddons } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { createWorkerThread } from "../waiting/workerThread.ts";
import type { Match } from "./imageSearch.ts";
import type { ImageAnswer, ImageQuestion } from "./imageWorker.ts";
import { expression } from "./imageWorker.ts?script";

const idleMs = 60_000;
const mostMs = 30_000;
const resourceLimits = { maxOldGenerationSizeMb: 256 };

/** It has OpenCV, which takes about 280 MB, and keeps the sizes of the last pictures. */
const thread = createWorkerThread<ImageQuestion, ImageAnswer>({
  code: `${expression}.serve(require("node:worker_threads").parentPort, require);`,
  resourceLimits,
  idleMs,
  tooSlow: (timeoutMs) =>
    new DeviceError(
      "COMMAND_TIMEOUT",
      `Looking for the reference took longer than ${timeoutMs} ms. Give a smaller area or scale_range.`,
    ),
  endedBy: (cause) =>
    new DeviceError(
      "DEVICE_ERROR",
      `The thread that compares pictures ended${cause ? `: ${cause}` : ""}. Try again.`,
    ),
});

/** What OpenCV is called for; without the add-on, our own code compares: slower, to the same verdicts. */
const opencvOf = (addons: InstalledAddons): { opencv?: string } =>
  addons.state("vision") === "installed"
    ? { opencv: join(addons.folder("vision"), "node_modules", "@techstark", "opencv-js") }
    : {};

/**
 * Where the template is in the picture: see `search`. Throws COMMAND_TIMEOUT; ADDON_UNUSABLE where OpenCV is installed and
 * fails; DEVICE_ERROR where the thread died.
 */
export async function findImage(
  addons: InstalledAddons,
  question: Omit<ImageQuestion, "opencv">,
  { ms = mostMs, signal }: { ms?: number | undefined; signal: AbortSignal },
): Promise<readonly Match[]> {
  const limits = { timeoutMs: Math.max(1, Math.min(ms, mostMs)), signal };
  const answer = await thread.ask({ ...question, ...opencvOf(addons) }, limits);
  if ("matches" in answer) return answer.matches;
  throw new DeviceError(
    "ADDON_UNUSABLE",
    `The pictures were not compared: ${answer.failure}. If the add-on vision is broken, remove it from the folder addons of the data directory and run: labwright setup vision`,
  );
}
