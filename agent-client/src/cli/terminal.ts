import { EventEmitter, once } from "node:events";
import { styleText } from "node:util";
import { type Input, KeyboardInput, pipedInput } from "./input.ts";

/** The exit codes of every command. `notDone`: ended otherwise. `error`: wrong use, too. */
export const exitCodes = { done: 0, notDone: 1, error: 2, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Returns the text unchanged where no colours are wanted. */
export type Style = (format: "dim" | "bold" | "green" | "red" | "yellow", text: string) => string;
export type Screen = { write(text: string): void; style: Style };

export type Terminal = {
  out: Screen;
  err: Screen;
  /** A person reads `out` and types. */
  isInteractive: boolean;
  /** Opens stdin. The caller closes it. `isWhole`: all that a pipe has is one message. */
  input(isWhole?: boolean): Input;
  /** Emits `interrupt` at Ctrl-C and at the signals that ask this process to end. */
  interrupts: EventEmitter<{ interrupt: [] }>;
};

export function processTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  const interrupts: Terminal["interrupts"] = new EventEmitter();
  const interrupt = () => interrupts.emit("interrupt");
  const isInteractive = stdin.isTTY === true && stdout.isTTY === true;
  return {
    ...{ out: screenOf(stdout), err: screenOf(stderr), isInteractive, interrupts },
    input: (isWhole) =>
      isInteractive ? new KeyboardInput({ stdin, stdout }, interrupt) : pipedInput(stdin, isWhole),
  };
}

/** With colours on a terminal that has them, unless NO_COLOR is set. */
function screenOf(stream: NodeJS.WriteStream): Screen {
  // A reader of the output may leave early, as `head` does. The command still runs to its end.
  stream.on("error", () => {});
  return {
    write: (text) => void stream.write(text),
    style: (format, text) => styleText(format, text, { stream }),
  };
}

/** The command ends with 130. */
export class Interrupted extends Error {}

/** Waits for the work. Throws Interrupted when the user interrupts first. */
export function unlessInterrupted<Result>({ interrupts }: Terminal, work: Promise<Result>): Promise<Result> {
  const over = new AbortController();
  const interrupted = once(interrupts, "interrupt", { signal: over.signal }).then(() => {
    throw new Interrupted();
  });
  return Promise.race([work, interrupted]).finally(() => over.abort());
}
