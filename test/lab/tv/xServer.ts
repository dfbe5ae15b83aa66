import { once } from "node:events";
import type { Readable } from "node:stream";
import { type RunningProgram, startProgram } from "#controllers/programs/run.ts";

/** An X server without a screen, that no network reaches. `display` is such as ":77", the first that was free. */
export type XServer = { display: string; program: RunningProgram };

const size = "1280x720x24";

/** Its owner ends its program. It also ends with this process. */
export async function startXServer(): Promise<XServer> {
  const options = ["-displayfd", "3", "-screen", "0", size, "-nolisten", "tcp", "-noreset"];
  const program = startProgram("Xvfb", options, { pipes: 1 });
  const { child } = program;
  // A program that nobody reads stops when its pipe is full.
  child.stdout?.resume();
  let said = "";
  child.stderr?.on("data", (part: Buffer) => {
    said = (said + part.toString()).slice(-2_000);
  });
  const ended = once(child, "exit").then(() => Promise.reject(new Error(`Xvfb ended at its start: ${said}`)));
  const [line] = await Promise.race([once(child.stdio[3] as Readable, "data"), ended]);
  ended.catch(() => undefined);
  return { display: `:${String(line).trim()}`, program };
}
