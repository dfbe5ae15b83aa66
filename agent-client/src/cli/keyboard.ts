import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Answer, Input, Question } from "./input.ts";
import { bracketedPaste, PasteFilter } from "./paste.ts";
import { plain } from "./plain.ts";

/** A terminal's two ends. */
export type Tty = {
  stdin: NodeJS.ReadableStream & { setRawMode?(mode: boolean): unknown };
  stdout: NodeJS.WritableStream & { columns?: number };
};

const maxTypedAhead = 100;

/**
 * A person at a terminal, with a line editor and a history. While nothing is asked the keys are not shown, so that they do
 * not stand in the middle of an answer; what was typed meanwhile is there at the next prompt.
 */
export function keyboardInput(tty: Tty): Input & {
  /** As Ctrl-C with nothing in the line. */
  interrupt(): void;
} {
  const { stdout } = tty;
  const line = openLine(tty);
  const listeners = new Set<() => void>();
  const typedAhead: string[] = [];
  let open: ((answer: Answer) => void) | undefined;
  let isClosed = false;

  const interrupt = () => {
    if (open === undefined) for (const listener of [...listeners]) listener();
    else {
      stdout.write("^C\n");
      open({ type: "interrupt" });
    }
  };
  line.onLine((text) => {
    if (open) open({ type: "line", text });
    else if (typedAhead.length < maxTypedAhead) typedAhead.push(text);
  });
  line.onInterrupt(() => {
    if (open === undefined || line.take() === "") interrupt();
  });
  line.onClose(() => {
    isClosed = true;
    if (open) stdout.write("\n");
    open?.({ type: "end" });
  });

  return {
    interrupt,
    ask(question) {
      const { signal } = question;
      if (isClosed) return Promise.resolve({ type: "end" });
      if (signal?.aborted) return Promise.resolve({ type: "withdrawn" });
      const ahead = question.isDecision ? undefined : typedAhead.shift();
      if (ahead !== undefined) {
        stdout.write(`${question.prompt}${plain(ahead)}\n`);
        return Promise.resolve({ type: "line", text: ahead });
      }
      return new Promise((resolve) => {
        const withdraw = () => {
          stdout.write("\n");
          open?.({ type: "withdrawn" });
        };
        open = (answer) => {
          open = undefined;
          line.hide();
          signal?.removeEventListener("abort", withdraw);
          resolve(answer);
        };
        signal?.addEventListener("abort", withdraw, { once: true });
        line.show(question);
      });
    },
    onInterrupt(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: line.close,
  };
}

/** The line that is typed, on the screen or not. */
function openLine({ stdin, stdout }: Tty) {
  const keys = new PasteFilter(stdin);
  const screen = new Screen(stdout);
  stdin.pipe(keys);
  const editor = createInterface({ input: keys, output: screen, terminal: true, historySize: 200 });
  stdout.write(bracketedPaste.on);
  const resize = () => void screen.emit("resize");
  stdout.on("resize", resize);
  let draft = "";

  /** Empties the line; gives what was in it. */
  const take = (): string => {
    const { line } = editor;
    editor.write(null, { ctrl: true, name: "e" });
    editor.write(null, { ctrl: true, name: "u" });
    return line;
  };
  return {
    take,
    show({ prompt, isDecision }: Question): void {
      // While the screen does not show it: what was typed is drawn anew behind the prompt.
      const typed = take();
      const kept = typed === "" ? draft : typed;
      draft = isDecision ? kept : "";
      screen.isOn = true;
      editor.setPrompt(prompt);
      editor.prompt();
      if (!isDecision && kept !== "") editor.write(kept);
    },
    hide(): void {
      screen.isOn = false;
    },
    onLine: (listener: (text: string) => void) =>
      void editor.on("line", (text) => listener(keys.restore(text))),
    onInterrupt: (listener: () => void) => void editor.on("SIGINT", listener),
    onClose: (listener: () => void) => void editor.on("close", listener),
    close(): void {
      screen.isOn = false;
      stdout.off("resize", resize);
      stdin.unpipe(keys);
      editor.close();
      keys.destroy();
      stdin.pause();
      stdout.write(bracketedPaste.off);
    },
  };
}

/** What the line editor writes to: the terminal, or nothing. */
class Screen extends Writable {
  isOn = false;

  constructor(readonly stdout: Tty["stdout"]) {
    super({ decodeStrings: false });
  }

  /** The line editor wraps by it. */
  get columns(): number {
    return this.stdout.columns ?? 80;
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    if (this.isOn && typeof chunk === "string") this.stdout.write(chunk);
    done();
  }
}
