import { readFile } from "node:fs/promises";
import type { Sides } from "../sides.ts";

/** Resident memory of a daemon's own process: its threads count, its browsers do not. Read from /proc, so on Linux only. */
export async function daemonMegabytes(sides: Sides, dataDir: string): Promise<number> {
  const status = await readFile(`/proc/${await sides.daemonPid(dataDir)}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
