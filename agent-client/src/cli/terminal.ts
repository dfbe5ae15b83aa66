import { styleText } from "node:util";
import type { Outcome } from "../events.ts";
import type { Environment } from "./agentClient.ts";
import { type Input, type OnInterrupt, pipedInput, readAll } from "./input.ts";
import { KeyboardInput } from "./keyboard.ts";
import { plain } from "./plain.ts";

/** The exit codes of every command. */
export const exitCodes = { done: 0, notDone: 1, error: 2, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitCodeOf: Readonly<Record<Outcome, ExitCode>> = {
  done: exitCodes.done,
  needs_input: exitCodes.notDone,
  refused: exitCodes.notDone,
  limit: exitCodes.notDone,
  failed: exitCodes.error,
  cancelled: exitCodes.interrupted,
};

/** Gives the text as it is where no colours are wanted. */
export type Style = (format: "dim" | "bold" | "green" | "red" | "yellow", text: string) => string;

/** What a command line stands in. `out` and `err` take whole texts. */
export type Terminal = {
  out(text: string): void;
  err(text: string): void;
  style: { out: Style; err: Style };
  env: Environment;
  cwd: string;
  /** A person reads `out` and types. */
  isInteractive: boolean;
  /** Opens stdin. The caller closes it. */
  input(): Input;
  /** All that a pipe has. Throws INPUT_TOO_LARGE. */
  readAll(): Promise<string>;
  onInterrupt: OnInterrupt;
};

/** The terminal of this process. `dispose` gives Ctrl-C back its usual meaning. */
export function processTerminal(env: Environment): Terminal & { dispose(): void } {
  const { stdin, stdout, stderr } = process;
  const listeners = new Set<() => void>();
  const interrupt = () => {
    for (const listener of [...listeners]) listener();
  };
  const onInterrupt: OnInterrupt = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, interrupt);
  // A reader of the output may leave early, as `head` does. The command still runs to its end.
  const ignore = () => {};
  for (const stream of [stdout, stderr]) stream.on("error", ignore);
  const isInteractive = stdin.isTTY === true && stdout.isTTY === true;
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    style: { out: styleOf(stdout), err: styleOf(stderr) },
    env,
    cwd: process.cwd(),
    isInteractive,
    input: () =>
      isInteractive
        ? new KeyboardInput({ stdin, stdout }, { interrupt, onInterrupt })
        : pipedInput(stdin, onInterrupt),
    readAll: () => readAll(stdin),
    onInterrupt,
    dispose() {
      for (const signal of signals) process.off(signal, interrupt);
      for (const stream of [stdout, stderr]) stream.off("error", ignore);
    },
  };
}

/** Colours on a terminal that has them, unless NO_COLOR is set. */
const styleOf =
  (stream: NodeJS.WriteStream): Style =>
  (format, text) =>
    styleText(format, text, { stream });

/** Code, message and next step of a failure, as lines. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return `${plain(String(error))}\n`;
  const code = "code" in error && typeof error.code === "string" ? `${error.code}: ` : "";
  const hint = "hint" in error && typeof error.hint === "string" && error.hint ? `\n${error.hint}` : "";
  return `${plain(`${code}${error.message}${hint}`)}\n`;
}
