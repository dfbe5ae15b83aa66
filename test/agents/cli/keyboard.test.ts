import { PassThrough, Readable } from "node:stream";
import { afterEach, expect, it, vi } from "vitest";
import { type Input, type OnInterrupt, pipedInput, readAll } from "../../../agent-client/src/cli/input.ts";
import { KeyboardInput } from "../../../agent-client/src/cli/keyboard.ts";

const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const end of cleanUp.splice(0)) end();
});

const ctrl = { c: "\u0003", d: "\u0004" };
const bracketedPaste = { on: "\u001b[?2004h", off: "\u001b[?2004l" };

function createInterrupts() {
  const listeners = new Set<() => void>();
  const interrupt = () => {
    for (const listener of [...listeners]) listener();
  };
  const onInterrupt: OnInterrupt = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return { interrupt, onInterrupt };
}
const paste = (text: string) => `\u001b[200~${text}\u001b[201~`;

/** The real line editor between streams in a terminal's place. */
function open() {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { setRawMode: (mode: boolean) => modes.push(mode) });
  const stdout = Object.assign(new PassThrough(), { columns: 80 });
  let screen = "";
  stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
  });
  const interrupts = createInterrupts();
  const input = new KeyboardInput({ stdin, stdout }, interrupts);
  cleanUp.push(() => input.close());
  return {
    input,
    ...interrupts,
    stdin,
    modes,
    screen: () => screen,
    types: (text: string) => stdin.write(text),
  };
}
const asks = (input: Input) => input.ask({ prompt: "> " });

type Opened = ReturnType<typeof open>;
/** Types while nothing is asked; the Ctrl-C after it says when it has arrived. */
async function typesUnasked({ onInterrupt, types }: Opened, text: string): Promise<void> {
  const heard = vi.fn();
  const stop = onInterrupt(heard);
  types(`${text}${ctrl.c}`);
  await vi.waitFor(() => expect(heard).toHaveBeenCalled());
  stop();
}

it("gives a line as it was typed, with what an edit made of it", async () => {
  const { input, types, screen } = open();
  const answer = asks(input);
  types("helo\u007flo\r");
  expect(await answer).toEqual({ line: "hello" });
  expect(screen()).toContain("> ");
});

it("takes a paste of several lines as one message, with what is typed around it", async () => {
  const { input, types, screen } = open();
  const answer = asks(input);
  types(`look: ${paste("one\r\n\ttwo\u001b[2J\nthree\n")} please\r`);
  expect(await answer).toEqual({ line: "look: one\n\ttwo\nthree please" });
  expect(screen()).not.toContain("\u001b[2J");
});

it("takes a paste that comes in pieces, cut anywhere", async () => {
  for (const size of [2, 3, 5, 7, 11]) {
    const { input, stdin } = open();
    const answer = asks(input);
    const bytes = Buffer.from(`${paste("ä one\ntwo")}!\r`);
    for (let at = 0; at < bytes.length; at += size) stdin.write(bytes.subarray(at, at + size));
    expect(await answer).toEqual({ line: "ä one\ntwo!" });
  }
});

it("takes a long line that is pasted at once, not a letter at a time", async () => {
  const { input, types, screen } = open();
  const long = "x".repeat(200_000);
  const answer = asks(input);
  types(`${paste(long)}\r`);
  expect(await answer).toEqual({ line: long });
  // The line editor draws the whole line anew for a letter that it wraps.
  expect(screen().length).toBeLessThan(3 * long.length);
});

it("continues a message after a backslash at the end of a line", async () => {
  const { input, types } = open();
  const answer = asks(input);
  types("one\\\rtwo\r");
  expect(await answer).toEqual({ line: "one\ntwo" });
});

it("has the lines before in its history", async () => {
  const { input, types } = open();
  const first = asks(input);
  types("List the devices\r");
  await first;
  const second = asks(input);
  types("\u001b[A again\r");
  expect(await second).toEqual({ line: "List the devices again" });
});

it("keeps Ctrl-C when a paste has lost its end", async () => {
  const { input, types } = open();
  const answer = asks(input);
  types("\u001b[200~lost");
  types(ctrl.c);
  expect(await answer).toBe("interrupted");
});

it("clears the line at Ctrl-C, and only an empty line leaves", async () => {
  const { input, types } = open();
  const first = asks(input);
  types(`wrong${ctrl.c}right\r`);
  expect(await first).toEqual({ line: "right" });
  const second = asks(input);
  types(`wrong${ctrl.c}${ctrl.c}`);
  expect(await second).toBe("interrupted");
});

it("tells Ctrl-C to who listens while nothing is asked", async () => {
  const { input, types, onInterrupt } = open();
  const heard = vi.fn();
  const stop = onInterrupt(heard);
  types(ctrl.c);
  await vi.waitFor(() => expect(heard).toHaveBeenCalledTimes(1));
  stop();
  const answer = asks(input);
  types(ctrl.c);
  expect(await answer).toBe("interrupted");
  expect(heard).toHaveBeenCalledTimes(1);
});

it("shows nothing that is typed while nothing is asked, and has it at the next prompt", async () => {
  const terminal = open();
  const { input, types, screen } = terminal;
  await typesUnasked(terminal, "first\rsec");
  expect(await asks(input)).toEqual({ line: "first" });
  const before = screen();
  expect(before).toMatch(/> \S*first\r\n$/);
  const answer = asks(input);
  types("ond\r");
  expect(await answer).toEqual({ line: "second" });
});

it("takes nothing that was typed before for a decision, and has it afterwards", async () => {
  const terminal = open();
  const { input, types } = terminal;
  await typesUnasked(terminal, "y\rhalf");
  const decision = input.ask({ prompt: "Do it? ", isDecision: true });
  types("n\r");
  expect(await decision).toEqual({ line: "n" });
  expect(await asks(input)).toEqual({ line: "y" });
  const next = asks(input);
  types(" done\r");
  expect(await next).toEqual({ line: "half done" });
});

it("takes a question back", async () => {
  const { input, types } = open();
  const controller = new AbortController();
  const answer = input.ask({ prompt: "Do it? ", isDecision: true, signal: controller.signal });
  types("ye");
  controller.abort();
  expect(await answer).toBe("interrupted");
  expect(await input.ask({ prompt: "? ", signal: controller.signal })).toBe("interrupted");
  const next = asks(input);
  types("hello\r");
  expect(await next).toEqual({ line: "hello" });
});

it("takes a question back when the process is asked to end", async () => {
  const { input, types, interrupt } = open();
  const answer = asks(input);
  types("half");
  interrupt();
  expect(await answer).toBe("interrupted");
});

it("ends at Ctrl-D, for ever", async () => {
  const { input, types } = open();
  const answer = asks(input);
  types(ctrl.d);
  expect(await answer).toBe("end");
  expect(await asks(input)).toBe("end");
});

it("leaves the terminal as it was", () => {
  const { input, modes, screen } = open();
  expect(modes).toEqual([true]);
  input.close();
  expect(modes.at(-1)).toBe(false);
  expect(screen().endsWith(bracketedPaste.off)).toBe(true);
});

const never: OnInterrupt = () => () => {};

it("reads a pipe a line at a time, whatever its pieces are", async () => {
  const stdin = new PassThrough();
  const input = pipedInput(stdin, never);
  for (const byte of Buffer.from("ä\r\nzwei\n\ndrei")) stdin.write(Uint8Array.of(byte));
  stdin.end();
  const lines = [await asks(input), await asks(input), await asks(input), await asks(input)];
  expect(lines).toEqual([{ line: "ä" }, { line: "zwei" }, { line: "" }, { line: "drei" }]);
  expect(await asks(input)).toBe("end");
});

it("lets go of a pipe that is still open when it was interrupted", async () => {
  const stdin = new PassThrough();
  const { interrupt, onInterrupt } = createInterrupts();
  const input = pipedInput(stdin, onInterrupt);
  const answer = asks(input);
  interrupt();
  expect(await answer).toBe("interrupted");
  input.close();
  expect(stdin.destroyed).toBe(true);
});

it("refuses a line without an end", async () => {
  const endless = () =>
    Readable.from(
      (function* () {
        for (;;) yield "x".repeat(1_000_000);
      })(),
    );
  const refused = { code: "INPUT_TOO_LARGE" };
  await expect(asks(pipedInput(endless(), never))).rejects.toMatchObject(refused);
  await expect(readAll(endless())).rejects.toMatchObject(refused);
});
