import { existsSync, renameSync, statSync } from "node:fs";
import { type DestinationStream, destination, type Logger, pino } from "pino";
import { scrub } from "./scrub.ts";
import { currentTraceId } from "./span.ts";

export type { Logger } from "pino";

/** Where lines go: stderr, a file (its folder is made, mode 0600), or a stream of a test. Never stdout. */
export type LogDestination = "stderr" | { file: string } | DestinationStream;

/** A file that has grown beyond this when it is opened is moved to `<file>.1`. */
const rotateBytes = 10_000_000;

/**
 * One JSON object a line, with the trace id of the call it belongs to. `mask` and `scrub` go over the finished line, so
 * a secret is hidden wherever it stands, free text included.
 */
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

function open(where: LogDestination): { to: DestinationStream; close(): void } {
  if (where === "stderr") return { to: destination({ fd: 2, sync: true }), close: () => {} };
  if (!("file" in where)) return { to: where, close: () => {} };
  if (existsSync(where.file) && statSync(where.file).size > rotateBytes) {
    renameSync(where.file, `${where.file}.1`);
  }
  const to = destination({ dest: where.file, mkdir: true, mode: 0o600, append: true, sync: true });
  return { to, close: () => to.destroy() };
}
