import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import { vi } from "vitest";
import { type Input, pipedInput } from "#agent-client/cli/input.ts";
import type { Screen, Terminal } from "#agent-client/cli/terminal.ts";

export type FakeTerminal = Terminal & {
  written: { out: string; err: string };
  /** Waits until something is asked, and answers it. */
  types(text: string): Promise<void>;
  endsInput(): Promise<void>;
  /** Ctrl-C: at the prompt, or while something runs. */
  interrupt(): void;
  /** The prompt of the question that is open. */
  asked(): string | undefined;
};

/** A person at a terminal, or with `pipe` what is piped in. Without colours. */
export function fakeTerminal(pipe?: string): FakeTerminal {
  const written = { out: "", err: "" };
  const screen = (name: keyof typeof written): Screen => ({
    write: (text) => {
      written[name] += text;
    },
    style: (_, text) => text,
  });
  const interrupts: Terminal["interrupts"] = new EventEmitter();
  let isClosed = false;
  let open: { prompt: string; answer(line: string | undefined): void } | undefined;
  const give = async (line: string | undefined) => {
    const { answer } = await vi.waitFor(() => {
      if (open === undefined) throw new Error(`Nothing is asked. Written: ${written.out}${written.err}`);
      return open;
    });
    answer(line);
  };
  const keyboard: Input = {
    ask: (prompt, decision) =>
      new Promise((resolve) => {
        if (isClosed) return resolve(undefined);
        written.out += prompt;
        const answer = (line: string | undefined) => {
          open = undefined;
          if (line !== undefined) written.out += `${line}\n`;
          resolve(line);
        };
        open = { prompt, answer };
        decision?.addEventListener("abort", () => answer(undefined), { once: true });
      }),
    close() {
      isClosed = true;
      open?.answer(undefined);
    },
  };
  return {
    ...{ written, out: screen("out"), err: screen("err"), isInteractive: pipe === undefined, interrupts },
    input: (isWhole) => (pipe === undefined ? keyboard : pipedInput(Readable.from([pipe]), isWhole)),
    types: give,
    endsInput: () => give(undefined),
    interrupt: () => void interrupts.emit("interrupt"),
    asked: () => open?.prompt,
  };
}
