// Loaded into every Node process of the suite (NODE_OPTIONS): SIGUSR2 moves a daemon's wall clock by the number in
// FAULT_CLOCK's file. The steady clock, by which intervals are measured, goes on as it does when an administrator or a
// time server sets the clock of a machine.
import { readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env.FAULT_CLOCK;
if (isMainThread && file !== undefined && process.argv.some((arg) => arg.endsWith("daemon.js"))) {
  const RealDate = Date;
  let offset = 0;
  const now = () => RealDate.now() + offset;
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      if (given.length === 0) super(now());
      else super(...given);
    }
    static now() {
      return now();
    }
  };
  process.on("SIGUSR2", () => {
    offset += Number(readFileSync(file, "utf8"));
  });
}
