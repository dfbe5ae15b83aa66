import { AgentError } from "../errors.ts";

/** What a person did at a prompt. Ctrl-C with text in the line only clears it. */
export type Answer =
  | { type: "line"; text: string }
  /** Ctrl-C at an empty prompt. */
  | { type: "interrupt" }
  /** Ctrl-D, or the end of the pipe: it will say nothing more. */
  | { type: "end" }
  | { type: "withdrawn" };

export type Question = {
  prompt: string;
  /** A line that was typed before this was asked is no answer to it, and is kept for later. */
  isDecision?: boolean;
  /** Takes the question back. */
  signal?: AbortSignal;
};

/** What a person or a pipe says, a message at a time; a pasted text of several lines is one message. */
export type Input = {
  ask(question: Question): Promise<Answer>;
  /** Ctrl-C while nothing is asked. Gives the way to stop listening. */
  onInterrupt(listener: () => void): () => void;
  close(): void;
};

/** More than the longest message that is accepted, so that its refusal says why. */
export const maxInputLetters = 16 * 1024 * 1024;

/** A pipe: a message a line, and no prompt. `onInterrupt` is that of the process. */
export function pipedInput(
  stdin: AsyncIterable<string | Uint8Array>,
  onInterrupt: (listener: () => void) => () => void,
): Input {
  const lines = linesOf(stdin);
  let pending: Promise<IteratorResult<string, void>> | undefined;
  return {
    async ask({ signal }) {
      pending ??= lines.next();
      const stops: (() => void)[] = [];
      const interrupted = new Promise<Answer>((resolve) => {
        stops.push(onInterrupt(() => resolve({ type: "interrupt" })));
        const withdraw = () => resolve({ type: "withdrawn" });
        signal?.addEventListener("abort", withdraw, { once: true });
        stops.push(() => signal?.removeEventListener("abort", withdraw));
      });
      const line = pending.then(({ done, value }): Answer => {
        pending = undefined;
        return done || value === undefined ? { type: "end" } : { type: "line", text: value };
      });
      try {
        return await Promise.race([line, interrupted]);
      } finally {
        for (const stop of stops) stop();
      }
    },
    onInterrupt,
    close() {
      // Ends the stream that it reads; whoever still waits for a line has gone.
      lines.return().catch(() => {});
    },
  };
}

async function* linesOf(stdin: AsyncIterable<string | Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stdin) {
    const parts = (
      rest + (typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }))
    ).split(/\r?\n/);
    rest = parts.pop() ?? "";
    refuseTooLong(rest);
    yield* parts;
  }
  if (rest !== "") yield rest;
}

/** All of a pipe, as one text. Throws INPUT_TOO_LARGE. */
export async function readAll(stdin: AsyncIterable<string | Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stdin) {
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    refuseTooLong(text);
  }
  return text;
}

function refuseTooLong(text: string): void {
  if (text.length <= maxInputLetters) return;
  throw new AgentError(
    "INPUT_TOO_LARGE",
    `A message of more than ${maxInputLetters} letters cannot be read.`,
    "Send less, or name a file that a tool can read.",
  );
}
