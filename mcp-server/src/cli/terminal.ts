import type { Environment } from "../config/places.ts";
import { fileFailure } from "../fileFailure.ts";

/** What a command line stands in. `out` and `err` take whole texts; `signal` aborts on Ctrl-C. */
export type Terminal = {
  out(text: string): void;
  err(text: string): void;
  env: Environment;
  cwd: string;
  signal: AbortSignal;
};

/** The exit codes of every command. */
export const exitCodes = { passed: 0, failed: 1, error: 2, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The terminal of this process. `dispose` gives Ctrl-C back its usual meaning. */
export function processTerminal(): Terminal & { dispose(): void } {
  const controller = new AbortController();
  const stop = () => controller.abort();
  surviveFullOutput();
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    env: process.env,
    cwd: process.cwd(),
    signal: controller.signal,
    dispose() {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    },
  };
}

/**
 * Output that cannot be written (a full disk, a reader such as `head` that has seen enough) does not end the process with
 * a stack trace. Results that were lost show in the exit code.
 */
function surviveFullOutput(): void {
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    process.stderr.write(failureText(error));
    process.exitCode = exitCodes.error;
    process.once("exit", () => {
      process.exitCode = exitCodes.error;
    });
  });
}

/** Code, message and next step of a failure, as lines. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return `${String(error)}\n`;
  const file = fileFailure(error);
  if (file) return `${file.message}\n${file.hint}\n`;
  const code = "code" in error && typeof error.code === "string" ? `${error.code}: ` : "";
  const hint =
    "hint" in error && typeof error.hint === "string" && error.hint !== "" ? `\n${error.hint}` : "";
  return `${code}${error.message}${hint}\n`;
}
