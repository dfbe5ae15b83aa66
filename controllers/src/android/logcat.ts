import { parseLogcatLine, saidIn } from "../logs/logcatLine.ts";
import { LogRing } from "../logs/logRing.ts";
import type { LogSource } from "../ports.ts";
import { commandLine } from "./adb/quote.ts";
import type { AndroidDevice } from "./device.ts";

/** Of what was written before anybody asked, so much is read. */
const firstLines = 1_000;
const mostBytes = 16_000_000;

/** The device's log, read when somebody asks: what came since is added to what is kept. */
export function createLogs(device: AndroidDevice): LogSource {
  const ring = new LogRing();
  let reading: Promise<unknown> = Promise.resolve();
  const read = async (signal: AbortSignal) => {
    const since = ring.since();
    const from = since === undefined ? ["-t", `${firstLines}`] : ["-T", since.toFixed(3)];
    const dump = commandLine(["logcat", "-d", "-v", "threadtime", "-v", "epoch", ...from]);
    const { stdout } = await device.link().script(dump, signal, { mostBytes });
    const lines = stdout.split("\n").flatMap((raw) => {
      const line = parseLogcatLine(raw);
      return line === undefined ? [] : [{ raw, at: line.at, said: saidIn(line) }];
    });
    ring.addNew(lines);
  };
  return {
    async lines({ after = 0, limit }, signal) {
      const mine = reading.then(() => read(signal));
      reading = mine.catch(() => undefined);
      await mine;
      return ring.newest(after, limit);
    },
  };
}
