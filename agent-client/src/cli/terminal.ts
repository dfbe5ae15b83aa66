import type { Environment } from "./agentClient.ts";
import { type Input, pipedInput, readAll } from "./input.ts";
import { keyboardInput } from "./keyboard.ts";
import { wantsColours } from "./paint.ts";
import { plain } from "./plain.ts";

/** The exit codes of every command. */
export const exitCodes = { done: 0, notDone: 1, error: 2, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What a command line stands in. `out` and `err` take whole texts. */
export type Terminal = {
  out(text: string): void;
  err(text: string): void;
  env: Environment;
  cwd: string;
  /** A person reads `out` and types. */
  isInteractive: boolean;
  hasColours: { out: boolean; err: boolean };
  /** Opens stdin; to be closed. */
  input(): Input;
  /** All that a pipe says. Throws INPUT_TOO_LARGE. */
  readAll(): Promise<string>;
  /** Hears Ctrl-C outside a line editor, and what else asks this process to end. Gives the way to stop listening. */
  onInterrupt(listener: () => void): () => void;
};

/** The terminal of this process. `dispose` gives Ctrl-C back its usual meaning. */
export function processTerminal(env: Environment): Terminal & { dispose(): void } {
  const { stdin, stdout, stderr } = process;
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, tell);
  // Whoever reads the output may leave early, as `head` does; the command goes on to its end.
  const ignore = () => {};
  stdout.on("error", ignore);
  stderr.on("error", ignore);
  const onInterrupt = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const isInteractive = stdin.isTTY === true && stdout.isTTY === true;
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    env,
    cwd: process.cwd(),
    isInteractive,
    hasColours: { out: wantsColours(stdout, env), err: wantsColours(stderr, env) },
    input() {
      if (!isInteractive) return pipedInput(stdin, onInterrupt);
      const { interrupt, close, ...keyboard } = keyboardInput({ stdin, stdout });
      const stop = onInterrupt(interrupt);
      return {
        ...keyboard,
        close() {
          stop();
          close();
        },
      };
    },
    readAll: () => readAll(stdin),
    onInterrupt,
    dispose() {
      for (const signal of signals) process.off(signal, tell);
      stdout.off("error", ignore);
      stderr.off("error", ignore);
    },
  };
}

/** Code, message and next step of a failure, as lines. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return `${plain(String(error))}\n`;
  const code = "code" in error && typeof error.code === "string" ? `${error.code}: ` : "";
  const hint =
    "hint" in error && typeof error.hint === "string" && error.hint !== "" ? `\n${error.hint}` : "";
  return `${plain(`${code}${error.message}${hint}`)}\n`;
}
