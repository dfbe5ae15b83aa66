import type { Readable } from "node:stream";
import { AgentError } from "../errors.ts";

/** `interrupted`: by Ctrl-C, or the question was withdrawn. `end`: nothing more will be typed or piped. */
export type Answer = { line: string } | "interrupted" | "end";

export type Question = {
  prompt: string;
  /** What was typed before the question is no answer to it, and stays for the next prompt. */
  isDecision?: boolean;
  /** Withdraws the question. */
  signal?: AbortSignal;
};

/** What a person types or a pipe has, a message at a time. */
export type Input = {
  ask(question: Question): Promise<Answer>;
  close(): void;
};

/** Hears Ctrl-C and the signals that ask this process to end. Returns the function that stops listening. */
export type OnInterrupt = (listener: () => void) => () => void;

/** A pipe: a message a line. It has no prompt and takes no decisions. */
export function pipedInput(stdin: Readable, onInterrupt: OnInterrupt): Input {
  const lines = linesOf(stdin);
  return {
    ask() {
      let stop = () => {};
      const interrupted = new Promise<Answer>((resolve) => {
        stop = onInterrupt(() => resolve("interrupted"));
      });
      const line = lines.next().then(({ value }): Answer => (value === undefined ? "end" : { line: value }));
      return Promise.race([line, interrupted]).finally(stop);
    },
    close: () => void stdin.destroy(),
  };
}

/** All of a pipe, as one text. Throws INPUT_TOO_LARGE. */
export async function readAll(stdin: Readable): Promise<string> {
  let text = "";
  for await (const line of linesOf(stdin)) text = checked(`${text}${line}\n`);
  return text;
}

async function* linesOf(stdin: Readable): AsyncGenerator<string, void> {
  let rest = "";
  for await (const chunk of stdin.setEncoding("utf8")) {
    const lines = `${rest}${chunk}`.split(/\r?\n/);
    rest = checked(lines.pop() ?? "");
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** More than a conversation accepts, which refuses a long message with a better reason. */
const maxLetters = 16 * 1024 * 1024;

function checked(text: string): string {
  if (text.length <= maxLetters) return text;
  throw new AgentError(
    "INPUT_TOO_LARGE",
    `A message may have at most ${maxLetters} characters.`,
    "Send less, or name a file that a tool can read.",
  );
}
