import { createInterface } from "node:readline";
import type { Environment } from "../config/places.ts";
import { fileFailure } from "../fileFailure.ts";

/** The surroundings of a command. `out` and `err` take whole texts; `signal` aborts on Ctrl-C. */
export type Terminal = {
  out(text: string): void;
  err(text: string): void;
  env: Environment;
  cwd: string;
  signal: AbortSignal;
  /** Its width; undefined where `out` is not a terminal. */
  columns?: number | undefined;
  /** The line that a person types; undefined at its end, at Ctrl-C and at the abort of `until`. Absent where no one can type. */
  ask?: ((question: string, until?: AbortSignal) => Promise<string | undefined>) | undefined;
};

/** Some terminals do not report their width. */
const usualColumns = 80;

/** Whether output has colour: FORCE_COLOR decides first, then NO_COLOR, as in Node; else only a terminal has it. */
export function hasColor({
  env = {},
  columns,
}: {
  env?: Environment;
  columns?: number | undefined;
}): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: refused } = env;
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  return (refused === undefined || refused === "") && columns !== undefined;
}

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
    columns: process.stdout.isTTY ? process.stdout.columns || usualColumns : undefined,
    ask:
      process.stdin.isTTY && process.stdout.isTTY
        ? (question, until) => askLine(question, controller, until)
        : undefined,
    dispose() {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    },
  };
}

/** Ctrl-C arrives here as a key while a line is typed. */
function askLine(
  question: string,
  interrupt: AbortController,
  until: AbortSignal = interrupt.signal,
): Promise<string | undefined> {
  if (interrupt.signal.aborted || until.aborted) return Promise.resolve(undefined);
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const close = () => lines.close();
  const ends = [interrupt.signal, until];
  for (const signal of ends) signal.addEventListener("abort", close, { once: true });
  return new Promise<string | undefined>((resolve) => {
    lines.once("SIGINT", () => interrupt.abort());
    lines.once("close", () => resolve(undefined));
    lines.question(question, resolve);
  }).finally(() => {
    for (const signal of ends) signal.removeEventListener("abort", close);
    lines.close();
  });
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

/** `1 test`, `2 tests`. */
export const counted = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** Below the first word of a line that is not indented. */
const hanging = " ".repeat(11);

/**
 * Breaks lines at spaces where a terminal is narrower, and goes on where their text begins, or at column `start`. What is to be
 * copied stays whole.
 */
export function wrapText(text: string, columns = Number.POSITIVE_INFINITY, start?: number): string {
  const isWide = (line: string) =>
    line.length > columns && !/^ *(?:repeat|trace|labwright) (?!\[)/.test(line);
  const wrap = (line: string) => (isWide(line) ? wrapLine(line, columns, start) : line);
  return text.split("\n").map(wrap).join("\n");
}

function wrapLine(line: string, columns: number, start: number | undefined): string {
  const [lead = ""] = /^ */.exec(line) ?? [];
  // A column that begins far to the right leaves no room below it.
  const isRoom = start !== undefined && start < columns / 2;
  const below = isRoom ? " ".repeat(start) : lead || hanging;
  const lines: string[] = [];
  let current = lead;
  for (const word of line.slice(lead.length).split(/(?<= )(?=[^ ])/)) {
    const isFull = current.trim() !== "" && (current + word).trimEnd().length > columns;
    if (isFull) lines.push(current);
    current = (isFull ? below : current) + word;
  }
  return [...lines, current].map((one) => one.trimEnd()).join("\n");
}

const gap = "  ";

/** Rows below their heads, each column as wide as its widest cell; the last one is wrapped where the terminal ends. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  columns?: number,
): string {
  const all = [heads.map((head) => head.toUpperCase()), ...rows];
  const widths = heads.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  const start = widths.slice(0, -1).reduce((sum, width) => sum + width + gap.length, 0);
  return all
    .map((row) => {
      const cells = row.map((cell, at) => (at === heads.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)));
      return `${wrapText(cells.join(gap).trimEnd(), columns, start)}\n`;
    })
    .join("");
}
