import { stat } from "node:fs/promises";
import { z } from "zod";
import { DeviceError } from "../../errors.ts";
import type { AndroidSession } from "../session.ts";

/** Parameters of commands that copy a file. */
export const copyTime = { timeout_ms: z.int().min(1).max(600_000).default(120_000) };
export const uploadName = z.string().min(1).max(500);

/** Throws PATH_DENIED, and INVALID_PARAMS where there is no such file. */
export async function uploaded(context: AndroidSession["context"], name: string): Promise<string> {
  const path = context.uploadPath(name);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return path;
  const message = `There is no file ${JSON.stringify(name)} in the uploads folder. Put it there, or correct its name.`;
  throw new DeviceError("INVALID_PARAMS", message);
}

export const saidBy = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 300);

export const isFull = (said: string) => /INSUFFICIENT_STORAGE|No space left/i.test(said);

export const storageFull = (what: string) =>
  new DeviceError(
    "STORAGE_FULL",
    `The device has no room to ${what}. Remove apps or files from it, and try again.`,
  );
