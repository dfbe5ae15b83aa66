import {
  closeSync,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { type DestinationStream, type Logger, pino } from "pino";
import { scrub } from "./scrub.ts";
import { currentTraceId } from "./span.ts";

export type { Logger } from "pino";

/** stderr, a file (made with mode 0600), or a stream of a test; never stdout. `echo` also writes a file's lines to stderr. */
export type LogDestination = "stderr" | { file: string; echo?: boolean } | DestinationStream;

/** What a file holds beyond this goes to `<file>.1`. */
const rotateBytes = 10_000_000;

/** One JSON object a line, with the call's trace id. `mask` and `scrub` go over the finished line, free text included. */
export function createLog(options: {
  level: string;
  destination: LogDestination;
  mask: (text: string) => string;
}): { log: Logger; close(): void } {
  const stream = open(options.destination);
  const log = pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => {
        const trace_id = currentTraceId();
        return trace_id === undefined ? {} : { trace_id };
      },
      mixinMergeStrategy: (given, mixed) => ({ ...mixed, ...given }),
      hooks: { streamWrite: (line) => scrub(options.mask(line)) },
    },
    stream.to,
  );
  return { log, close: stream.close };
}

type Open = { to: DestinationStream; close(): void };

function open(where: LogDestination): Open {
  if (where === "stderr") return { to: stderr(), close: () => {} };
  if (!("file" in where)) return { to: where, close: () => {} };
  const file = openFile(where.file);
  if (!where.echo || isStderr(file.fd)) return file;
  const echo = stderr();
  return {
    to: {
      write(line) {
        file.to.write(line);
        echo.write(line);
      },
    },
    close: file.close,
  };
}

/** What it cannot write (a full disk, a reader that went) is dropped, and must not end what is logged. */
function stderr(): DestinationStream {
  if (!process.stderr.listeners("error").includes(ignore)) process.stderr.on("error", ignore);
  return { write: (line) => void process.stderr.write(line) };
}
const ignore = () => {};

/** So it is in a daemon that a bridge started, whose last words before the log is open belong there too. */
function isStderr(fd: number): boolean {
  const [own, other] = [fstatSync(fd), fstatSync(2)];
  return own.ino === other.ino && own.dev === other.dev;
}

function openFile(path: string): Open & { fd: number } {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fd = openSync(path, "a", 0o600);
  let { size } = fstatSync(fd);
  let isOpen = true;
  /** Not renamed: others, such as our own stderr, hold it open. On a full disk the older lines are given up. */
  function rotate(): void {
    try {
      copyFileSync(path, `${path}.1`);
    } catch {
      rmSync(`${path}.1`, { force: true });
    }
    ftruncateSync(fd);
  }
  function write(line: string): void {
    if (!isOpen) return;
    try {
      if (size > rotateBytes) {
        rotate();
        size = 0;
      }
      size += writeSync(fd, line);
    } catch {
      // A disk that is full must not end what is logged.
    }
  }
  function close(): void {
    if (isOpen) closeSync(fd);
    isOpen = false;
  }
  return { fd, to: { write }, close };
}
