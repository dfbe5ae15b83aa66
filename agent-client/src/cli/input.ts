import { createInterface, emitKeypressEvents, type Interface, type Key } from "node:readline";
import { PassThrough, type Readable } from "node:stream";
import { AgentError } from "../errors.ts";
import { plain } from "./plain.ts";

/** What a person types or a pipe has, a message at a time. */
export type Input = {
  /** The next message; undefined at the end. `decision` withdraws the question; keys typed before it do not answer it. */
  ask(prompt: string, decision?: AbortSignal): Promise<string | undefined>;
  close(): void;
};

/** More than a conversation accepts, which refuses a long message with a better reason. */
const maxLetters = 16 * 1024 * 1024;

/** A pipe: a message a line, or as a whole one message. It has no prompt and takes no decisions. */
export function pipedInput(stdin: Readable, isWhole = false): Input {
  const messages = messagesOf(stdin, isWhole);
  return {
    ask: async () => (await messages.next()).value ?? undefined,
    close() {
      void messages.return();
      stdin.destroy();
    },
  };
}

async function* messagesOf(stdin: Readable, isWhole: boolean): AsyncGenerator<string, void> {
  let rest = "";
  for await (const chunk of stdin.setEncoding("utf8")) {
    const lines = isWhole ? [`${rest}${chunk}`] : `${rest}${chunk}`.split(/\r?\n/);
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length <= maxLetters) continue;
    const message = `A message may have at most ${maxLetters} characters.`;
    throw new AgentError("INPUT_TOO_LARGE", message, "Send less, or name a file that a tool can read.");
  }
  if (rest !== "") yield rest;
}

type Tty = {
  stdin: NodeJS.ReadableStream & { setRawMode(mode: boolean): unknown };
  stdout: NodeJS.WritableStream;
};

const bracketedPaste = { on: "\u001b[?2004h", off: "\u001b[?2004l" };
const ctrlC = "\u0003";

/** A person at a terminal. A pasted text is one message. Keys pressed while nothing is asked go to the next prompt. */
export class KeyboardInput implements Input {
  private readonly editor: Interface;
  private readonly typedAhead: (() => void)[] = [];
  private lines: string[] = [];
  /** What came of a paste that has not ended. */
  private pasted: string | undefined;
  private isPasting = false;
  private isClosed = false;
  private answer: ((line: string | undefined) => void) | undefined;

  constructor(
    private readonly tty: Tty,
    private readonly interrupt: () => void,
  ) {
    const { stdin, stdout } = tty;
    // The editor gets its keys by `write`, and only while a question is open.
    const noKeys = Object.assign(new PassThrough(), { setRawMode: stdin.setRawMode.bind(stdin) });
    this.editor = createInterface({ input: noKeys, output: stdout, terminal: true, historySize: 200 });
    this.editor.on("line", (line) => {
      this.lines.push(line);
      if (this.isPasting) this.editor.prompt();
      else this.answer?.(this.lines.splice(0).join("\n"));
    });
    this.editor.on("close", () => {
      this.isClosed = true;
      this.answer?.(undefined);
    });
    stdin.on("data", (chunk) => {
      // A paste that has lost its end must not keep Ctrl-C.
      if (String(chunk) === ctrlC) this.pasted = undefined;
    });
    emitKeypressEvents(stdin);
    stdin.on("keypress", (text: string | undefined, key: Key) => this.press(text, key));
    stdin.on("end", () => this.editor.close());
    stdout.write(bracketedPaste.on);
  }

  ask(prompt: string, decision?: AbortSignal): Promise<string | undefined> {
    if (this.isClosed || decision?.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const withdraw = () => {
        this.clear();
        this.answer?.(undefined);
      };
      decision?.addEventListener("abort", withdraw);
      this.answer = (line) => {
        this.answer = undefined;
        decision?.removeEventListener("abort", withdraw);
        if (line === undefined) this.tty.stdout.write("\n");
        resolve(line);
      };
      this.editor.setPrompt(prompt);
      this.editor.prompt();
      if (!decision) for (const edit of this.typedAhead.splice(0)) this.edit(edit);
    });
  }

  close(): void {
    const { stdin, stdout } = this.tty;
    this.editor.close();
    stdin.pause();
    stdout.write(bracketedPaste.off);
  }

  private press(text: string | undefined, key: Key): void {
    if (key.name === "paste-start") this.pasted = "";
    else if (key.name === "paste-end") this.endPaste();
    else if (this.pasted !== undefined) this.pasted += key.sequence ?? "";
    else if (key.sequence !== ctrlC) this.edit(() => this.editor.write(text, key));
    else if (this.editor.line !== "" || this.lines.length > 0) this.clear();
    else this.interrupt();
  }

  private endPaste(): void {
    const text = plain(this.pasted ?? "").replace(/\n+$/, "");
    this.pasted = undefined;
    this.edit(() => {
      this.isPasting = true;
      this.editor.write(text);
      this.isPasting = false;
    });
  }

  /** Does it now if a question is open, otherwise at the next prompt. */
  private edit(action: () => void): void {
    if (this.answer) action();
    else this.typedAhead.push(action);
  }

  private clear(): void {
    this.lines = [];
    for (const name of ["e", "u"]) this.editor.write(null, { ctrl: true, name });
  }
}
