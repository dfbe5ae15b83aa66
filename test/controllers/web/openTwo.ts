import { setTimeout as pause } from "node:timers/promises";
import { makeWebDevice } from "./webDevice.ts";

// In a process of its own, opens two browsers some milliseconds apart and uses our selector engine in both. Ends with
// the number of browsers in which it failed; the argument is the time between the two in milliseconds.
const NEVER = new AbortController().signal;
const between = Number(process.argv[2] ?? 0);
const devices = await Promise.all([makeWebDevice(), makeWebDevice()]);
const outcomes = await Promise.all(
  devices.map(async (device, index) => {
    try {
      await pause(index * between);
      await device.web.open(NEVER);
      await device.run("navigate_to_url", { url: process.argv[3] });
      await device.run("click_element", { selector: "text=Alert", timeout_ms: 5_000 });
      return 0;
    } catch (error) {
      process.stderr.write(`browser ${index}: ${String(error)}\n`);
      return 1;
    } finally {
      await device.close();
    }
  }),
);
process.exit(outcomes.reduce((sum: number, failed) => sum + failed, 0));
