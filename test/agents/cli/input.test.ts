import { PassThrough, Readable } from "node:stream";
import { afterEach, expect, it, vi } from "vitest";
import { type Input, KeyboardInput, pipedInput } from "#agent-client/cli/input.ts";

const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const end of cleanUp.splice(0)) end();
});

const ctrl = { c: "\u0003", d: "\u0004" };
const bracketedPaste = { on: "\u001b[?2004h", off: "\u001b[?2004l" };

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
  const interrupt = vi.fn();
  const input = new KeyboardInput({ stdin, stdout }, interrupt);
  cleanUp.push(() => input.close());
  return {
    input,
    interrupt,
    stdin,
    modes,
    screen: () => screen,
    types: (text: string) => stdin.write(text),
  };
}
const asks = (input: Input) => input.ask("> ");

type Opened = ReturnType<typeof open>;
/** Types while nothing is asked; the Ctrl-C after it says when it has arrived. */
async function typesUnasked({ interrupt, types }: Opened, text: string): Promise<void> {
  types(`${text}${ctrl.c}`);
  await vi.waitFor(() => expect(interrupt).toHaveBeenCalled());
}

it("gives a line as it was typed, with what an edit made of it", async () => {
  const { input, types, screen } = open();
  const answer = asks(input);
  types("helo\u007flo\r");
  expect(await answer).toBe("hello");
  expect(screen()).toContain("> ");
});

it("takes a paste of several lines as one message, with what is typed around it", async () => {
  const { input, types, screen } = open();
  const answer = asks(input);
  types(`look: ${paste("one\r\n\ttwo\u001b[2J\nthree\n")} please\r`);
  expect(await answer).toBe("look: one\n\ttwo\nthree please");
  expect(screen()).not.toContain("\u001b[2J");
});

it("takes a paste that comes in pieces, cut anywhere", async () => {
  for (const size of [2, 3, 5, 7, 11]) {
    const { input, stdin } = open();
    const answer = asks(input);
    const bytes = Buffer.from(`${paste("ä one\ntwo")}!\r`);
    for (let at = 0; at < bytes.length; at += size) stdin.write(bytes.subarray(at, at + size));
    expect(await answer).toBe("ä one\ntwo!");
  }
});

it("takes a long line that is pasted at once, not a letter at a time", async () => {
  const { input, types, screen } = open();
  const long = "x".repeat(200_000);
  const answer = asks(input);
  types(`${paste(long)}\r`);
  expect(await answer).toBe(long);
  // The line editor draws the whole line anew for a letter that it wraps.
  expect(screen().length).toBeLessThan(3 * long.length);
});

it("has the lines before in its history", async () => {
  const { input, types } = open();
  const first = asks(input);
  types("List the devices\r");
  await first;
  const second = asks(input);
  types("\u001b[A again\r");
  expect(await second).toBe("List the devices again");
});

it("keeps Ctrl-C when a paste has lost its end", async () => {
  const { input, types, interrupt } = open();
  const answer = asks(input);
  types("\u001b[200~lost");
  types(ctrl.c);
  await vi.waitFor(() => expect(interrupt).toHaveBeenCalledTimes(1));
  types("kept\r");
  expect(await answer).toBe("kept");
});

it("clears the line at Ctrl-C, also one that was pasted before it, and interrupts only at an empty line", async () => {
  const { input, types, interrupt } = open();
  const answer = asks(input);
  types(`${paste("one\ntwo")}${ctrl.c}wrong${ctrl.c}right\r`);
  expect(await answer).toBe("right");
  expect(interrupt).not.toHaveBeenCalled();
  void asks(input);
  types(`wrong${ctrl.c}${ctrl.c}`);
  await vi.waitFor(() => expect(interrupt).toHaveBeenCalledTimes(1));
});

it("shows nothing that is typed while nothing is asked, and has it at the next prompt", async () => {
  const terminal = open();
  const { input, types, screen } = terminal;
  await typesUnasked(terminal, "first\rsec");
  expect(await asks(input)).toBe("first");
  const before = screen();
  expect(before).toMatch(/> \S*first\r\n$/);
  const answer = asks(input);
  types("ond\r");
  expect(await answer).toBe("second");
});

it("takes nothing that was typed before for a decision, and has it afterwards", async () => {
  const terminal = open();
  const { input, types } = terminal;
  await typesUnasked(terminal, "y\rhalf");
  const decision = input.ask("Do it? ", new AbortController().signal);
  types("n\r");
  expect(await decision).toBe("n");
  expect(await asks(input)).toBe("y");
  const next = asks(input);
  types(" done\r");
  expect(await next).toBe("half done");
});

it("takes a question back", async () => {
  const { input, types } = open();
  const controller = new AbortController();
  const answer = input.ask("Do it? ", controller.signal);
  types("ye");
  controller.abort();
  expect(await answer).toBeUndefined();
  expect(await input.ask("? ", controller.signal)).toBeUndefined();
  const next = asks(input);
  types("hello\r");
  expect(await next).toBe("hello");
});

it("ends at Ctrl-D, for ever", async () => {
  const { input, types } = open();
  const answer = asks(input);
  types(ctrl.d);
  expect(await answer).toBeUndefined();
  expect(await asks(input)).toBeUndefined();
});

it("leaves the terminal as it was", () => {
  const { input, modes, screen } = open();
  expect(modes).toEqual([true]);
  input.close();
  expect(modes.at(-1)).toBe(false);
  expect(screen().endsWith(bracketedPaste.off)).toBe(true);
});

it("reads a pipe a line at a time, whatever its pieces are", async () => {
  const stdin = new PassThrough();
  const input = pipedInput(stdin);
  for (const byte of Buffer.from("ä\r\nzwei\n\ndrei")) stdin.write(Uint8Array.of(byte));
  stdin.end();
  const lines = [await asks(input), await asks(input), await asks(input), await asks(input)];
  expect(lines).toEqual(["ä", "zwei", "", "drei"]);
  expect(await asks(input)).toBeUndefined();
});

it("lets go of a pipe that is still open", () => {
  const stdin = new PassThrough();
  const input = pipedInput(stdin);
  asks(input).catch(() => {});
  input.close();
  expect(stdin.destroyed).toBe(true);
});

it.each([
  ["a line", false, "x"],
  ["a whole pipe", true, "x\n"],
])("refuses %s without an end", async (_, isWhole, text) => {
  const endless = Readable.from(
    (function* () {
      for (;;) yield text.repeat(1_000_000);
    })(),
  );
  await expect(asks(pipedInput(endless, isWhole))).rejects.toMatchObject({ code: "INPUT_TOO_LARGE" });
});

it("has nothing more once it is closed, though the pipe has", async () => {
  const input = pipedInput(Readable.from(["one\ntwo\n"]));
  expect(await asks(input)).toBe("one");
  input.close();
  expect(await asks(input)).toBeUndefined();
});
