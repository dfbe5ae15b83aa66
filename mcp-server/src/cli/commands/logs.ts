import { closeSync, existsSync, fstatSync, openSync, readSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { dataDirectory } from "../../config/places.ts";
import type { DaemonOptions } from "../options.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

/** However long the file is, this much of its end is looked at. */
const tailBytes = 4_000_000;

/** `labwright logs`: the last lines of the daemon's log; with `follow` until Ctrl-C. */
export async function runLogs(
  options: DaemonOptions & { lines: number; follow?: boolean | undefined },
  terminal: Terminal,
): Promise<ExitCode> {
  const file = join(dataDirectory(terminal.env, options.dataDir).path, "logs", "daemon.log");
  if (!existsSync(file)) {
    terminal.err(`There is no log at ${file}. It is made when a daemon starts: labwright serve\n`);
    return exitCodes.failed;
  }
  const end = tail(file, options.lines, terminal);
  if (!options.follow) return exitCodes.passed;
  await follow(file, end, terminal);
  return exitCodes.interrupted;
}

/** Gives back where the file ended. */
function tail(file: string, lines: number, terminal: Terminal): number {
  const fd = openSync(file, "r");
  try {
    const { size } = fstatSync(fd);
    const text = readFrom(fd, Math.max(0, size - tailBytes), size);
    const kept = text
      .split("\n")
      .filter((line) => line !== "")
      .slice(-lines);
    if (kept.length > 0 && lines > 0) terminal.out(`${kept.join("\n")}\n`);
    return size;
  } finally {
    closeSync(fd);
  }
}

function readFrom(fd: number, from: number, to: number): string {
  const bytes = Buffer.alloc(to - from);
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from)).toString("utf8");
}

/** Watches the folder, since the file is replaced when it has grown too long. */
function follow(file: string, from: number, terminal: Terminal): Promise<void> {
  return new Promise((resolve) => {
    let at = from;
    const show = () => {
      if (!existsSync(file)) return;
      const fd = openSync(file, "r");
      try {
        const { size } = fstatSync(fd);
        if (size < at) at = 0;
        if (size > at) terminal.out(readFrom(fd, Math.max(at, size - tailBytes), size));
        at = size;
      } finally {
        closeSync(fd);
      }
    };
    const watcher = watch(dirname(file), show);
    const end = () => {
      watcher.close();
      resolve();
    };
    show();
    if (terminal.signal.aborted) end();
    else terminal.signal.addEventListener("abort", end, { once: true });
  });
}
