import { expect, vi } from "vitest";
import { markedProcesses } from "../../faults/processes.ts";
import type { AndroidLab } from "../../fixtures/androidLab.ts";

/** Processes of the driver on this laboratory, with the programs that it started: they know the port of its adb server. */
const driverPrograms = ({ adbPort }: AndroidLab) => markedProcesses(`ANDROID_ADB_SERVER_PORT=${adbPort}\0`);

/** The id of the process that the driver runs in; NaN where none does. */
export function driverProgram(lab: AndroidLab): number {
  const program = driverPrograms(lab).find(({ command }) => command.includes("driverProgram.js"));
  return program?.pid ?? Number.NaN;
}

/** The ids of the processes of chromedriver that it started. */
export const chromedrivers = (lab: AndroidLab): number[] =>
  driverPrograms(lab)
    .filter(({ command }) => /^\S*\/chromedriver --port/.test(command))
    .map(({ pid }) => pid);

/** Resolves when no process, no forwarded port and no instrumentation of the driver is left. */
export const nothingLeft = (lab: AndroidLab) =>
  vi.waitFor(
    async () => {
      expect(driverPrograms(lab)).toEqual([]);
      expect(await lab.ask("host:list-forward")).toBe("");
      for (const { device } of lab.devices) expect(device.uia2).toBeUndefined();
    },
    { timeout: 15_000, interval: 100 },
  );
