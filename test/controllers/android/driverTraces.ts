import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, vi } from "vitest";
import type { AndroidLab } from "../../fixtures/androidLab.ts";

const run = promisify(execFile);
const mostOutput = 64_000_000;

/** Processes of the driver on this laboratory, with the programs that it started: they know the port of its adb server. */
async function driverLines({ adbPort }: AndroidLab): Promise<string[]> {
  const { stdout } = await run("ps", ["-eo", "pid=,args=", "e"], { maxBuffer: mostOutput });
  const own = stdout.split("\n").filter((line) => line.includes(`ANDROID_ADB_SERVER_PORT=${adbPort}`));
  return own.filter((line) => line.includes("ANDROID_HOME="));
}

/** The id of the process that the driver runs in; NaN where none does. */
export async function driverProgram(lab: AndroidLab): Promise<number> {
  const line = (await driverLines(lab)).find((one) => one.includes("driverProgram.js"));
  return Number.parseInt(line ?? "", 10);
}

/** The ids of the processes of chromedriver that it started. */
export async function chromedrivers(lab: AndroidLab): Promise<number[]> {
  const lines = (await driverLines(lab)).filter((one) => /^\s*\d+ \S*\/chromedriver --port/.test(one));
  return lines.map((line) => Number.parseInt(line, 10));
}

/** Resolves when no process, no forwarded port and no instrumentation of the driver is left. */
export const nothingLeft = (lab: AndroidLab) =>
  vi.waitFor(
    async () => {
      expect(await driverLines(lab)).toEqual([]);
      expect(await lab.ask("host:list-forward")).toBe("");
      for (const { device } of lab.devices) expect(device.uia2).toBeUndefined();
    },
    { timeout: 15_000, interval: 100 },
  );
