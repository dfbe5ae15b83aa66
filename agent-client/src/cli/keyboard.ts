import { createInterface, emitKeypressEvents, type Interface, type Key } from "node:readline";
import { PassThrough } from "node:stream";
import type { Answer, Input, OnInterrupt, Question } from "./input.ts";
import { plain } from "./plain.ts";

type Tty = {
  stdin: NodeJS.ReadableStream & { setRawMode?(mode: boolean): unknown };
  stdout: NodeJS.WritableStream;
};

const bracketedPaste = { on: "\u001b[?2004h", off: "\u001b[?2004l" };
const ctrlC = "\u0003";

/**
 * A person at a terminal. A pasted text is one message, also of several lines; a backslash at the end of a line continues
 * the message. Keys that are pressed while nothing is asked are not shown, and go to the next prompt. Ctrl-C clears what is
 * typed; when nothing is typed or asked it calls `interrupt`.
 */
export class KeyboardInput implements Input {
  private readonly editor: Interface;
  private readonly typedAhead: (() => void)[] = [];
  private lines: string[] = [];
  /** What came of a paste that has not ended. */
  private pasted: string | undefined;
  private isPasting = false;
  private isClosed = false;
  private answer: ((answer: Answer) => void) | undefined;

  constructor(
    private readonly tty: Tty,
    private readonly interrupts: { interrupt(): void; onInterrupt: OnInterrupt },
  ) {
    const { stdin, stdout } = tty;
    // The editor gets its keys by `write`, and only while a question is open.
    const noKeys = Object.assign(new PassThrough(), {
      setRawMode: (mode: boolean) => stdin.setRawMode?.(mode),
    });
    this.editor = createInterface({ input: noKeys, output: stdout, terminal: true, historySize: 200 });
    this.editor.on("line", (line) => this.takeLine(line));
    this.editor.on("close", () => {
      this.isClosed = true;
      this.answer?.("end");
    });
    stdin.on("data", this.onData);
    emitKeypressEvents(stdin);
    stdin.on("keypress", this.onKeypress).on("end", this.onEnd).resume();
    stdout.write(bracketedPaste.on);
  }

  ask({ prompt, isDecision, signal }: Question): Promise<Answer> {
    if (this.isClosed) return Promise.resolve("end");
    if (signal?.aborted) return Promise.resolve("interrupted");
    return new Promise((resolve) => {
      const withdraw = () => this.answer?.("interrupted");
      const stopListening = this.interrupts.onInterrupt(withdraw);
      signal?.addEventListener("abort", withdraw);
      this.answer = (answer) => {
        this.answer = undefined;
        stopListening();
        signal?.removeEventListener("abort", withdraw);
        if (answer === "interrupted") this.clear();
        if (typeof answer === "string") this.tty.stdout.write("\n");
        resolve(answer);
      };
      this.editor.setPrompt(prompt);
      this.editor.prompt();
      if (!isDecision) for (const edit of this.typedAhead.splice(0)) this.edit(edit);
    });
  }

  close(): void {
    const { stdin, stdout } = this.tty;
    stdin.off("data", this.onData).off("keypress", this.onKeypress).off("end", this.onEnd);
    this.editor.close();
    stdin.pause();
    stdout.write(bracketedPaste.off);
  }

  private readonly onEnd = () => this.editor.close();

  private readonly onData = (chunk: unknown): void => {
    // A paste that has lost its end must not keep Ctrl-C.
    if (String(chunk) === ctrlC) this.pasted = undefined;
  };

  private readonly onKeypress = (text: string | undefined, key: Key): void => {
    if (key.name === "paste-start") this.pasted = "";
    else if (key.name === "paste-end") this.endPaste();
    else if (this.pasted !== undefined) this.pasted += key.sequence ?? "";
    else if (key.sequence === ctrlC) this.pressCtrlC();
    else this.edit(() => this.editor.write(text, key));
  };

  private endPaste(): void {
    const text = plain(this.pasted ?? "").replace(/\n+$/, "");
    this.pasted = undefined;
    this.edit(() => {
      this.isPasting = true;
      this.editor.write(text);
      this.isPasting = false;
    });
  }

  private pressCtrlC(): void {
    const isTyped = this.editor.line !== "" || this.lines.length > 0;
    if (this.answer && isTyped) this.clear();
    else this.interrupts.interrupt();
  }

  /** Does it now if a question is open, otherwise at the next prompt. */
  private edit(action: () => void): void {
    if (this.answer) action();
    else this.typedAhead.push(action);
  }

  private clear(): void {
    this.lines = [];
    this.editor.write(null, { ctrl: true, name: "e" });
    this.editor.write(null, { ctrl: true, name: "u" });
  }

  private takeLine(line: string): void {
    const isContinued = this.isPasting || line.endsWith("\\");
    this.lines.push(this.isPasting ? line : line.replace(/\\$/, ""));
    if (isContinued) this.editor.prompt();
    else this.answer?.({ line: this.lines.splice(0).join("\n") });
  }
}
