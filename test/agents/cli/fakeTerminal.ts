import { Readable } from "node:stream";
import { vi } from "vitest";
import type { Answer, Input, Question } from "../../../agent-client/src/cli/input.ts";
import { pipedInput } from "../../../agent-client/src/cli/input.ts";
import type { Terminal } from "../../../agent-client/src/cli/terminal.ts";

export type FakeTerminal = Terminal & {
  written: { out: string; err: string };
  /** Waits until something is asked, and answers it. */
  types(text: string): Promise<void>;
  endsInput(): Promise<void>;
  /** Ctrl-C: at the prompt, or while something runs. */
  interrupts(): void;
  /** The prompt of the question that is open. */
  asked(): string | undefined;
};

/** A person at a terminal, or with `pipe` what is piped in. Without colours. */
export function fakeTerminal(pipe?: string): FakeTerminal {
  const written = { out: "", err: "" };
  const listeners = new Set<() => void>();
  const onInterrupt = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  let open: { question: Question; answer(answer: Answer): void } | undefined;
  const give = async (answer: Answer) => {
    const { answer: tell } = await vi.waitFor(() => {
      if (open === undefined) throw new Error(`Nothing is asked. Written: ${written.out}${written.err}`);
      return open;
    });
    tell(answer);
  };
  const keyboard: Input = {
    ask: (question) =>
      new Promise((resolve) => {
        written.out += question.prompt;
        const withdraw = () => open?.answer("interrupted");
        const stop = onInterrupt(withdraw);
        const answer = (answer: Answer) => {
          open = undefined;
          stop();
          if (typeof answer === "object") written.out += `${answer.line}\n`;
          resolve(answer);
        };
        open = { question, answer };
        if (question.signal?.aborted) withdraw();
        question.signal?.addEventListener("abort", withdraw, { once: true });
      }),
    close() {},
  };
  return {
    written,
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    env: {},
    cwd: "/",
    isInteractive: pipe === undefined,
    style: { out: (_, text) => text, err: (_, text) => text },
    input: () => (pipe === undefined ? keyboard : pipedInput(Readable.from([pipe]), onInterrupt)),
    readAll: async () => pipe ?? "",
    onInterrupt,
    types: (line) => give({ line }),
    endsInput: () => give("end"),
    interrupts() {
      for (const listener of [...listeners]) listener();
    },
    asked: () => open?.question.prompt,
  };
}
