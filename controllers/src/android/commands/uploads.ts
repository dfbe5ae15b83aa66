import { DeviceError } from "../../errors.ts";

export const saidBy = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 300);

export const isFull = (said: string) => /INSUFFICIENT_STORAGE|No space left/i.test(said);

export const storageFull = (what: string) =>
  new DeviceError(
    "STORAGE_FULL",
    `The device has no room to ${what}. Remove apps or files from it, and try again.`,
  );
