import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ownFolder } from "./journal.ts";

/** `session` is the last lease of the folder. It is missing while the device was named but never taken. */
const ownDeviceSchema = z.object({ device: z.string(), session: z.string().optional() });
export type OwnDevice = z.output<typeof ownDeviceSchema>;

const pathOf = (cwd: string) => join(cwd, ".labwright", "device.json");

/** The device that the folder means. Undefined until it names or gets one, and after `labwright release`. */
export function findOwnDevice(cwd: string): OwnDevice | undefined {
  try {
    return ownDeviceSchema.parse(JSON.parse(readFileSync(pathOf(cwd), "utf8")));
  } catch {
    return undefined;
  }
}

/** Whole or not at all: a command that runs beside this one never reads half of it and takes another device. */
export function rememberDevice(cwd: string, own: OwnDevice): void {
  ownFolder(cwd);
  const temporary = `${pathOf(cwd)}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(own)}\n`, { mode: 0o600 });
  renameSync(temporary, pathOf(cwd));
}

export const forgetDevice = (cwd: string): void => rmSync(pathOf(cwd), { force: true });
