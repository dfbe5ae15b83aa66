import { PassThrough } from "node:stream";
import { afterEach, expect, it, vi } from "vitest";
import { type Input, pipedInput, readAll } from "../../../agent-client/src/cli/input.ts";
import { keyboardInput } from "../../../agent-client/src/cli/keyboard.ts";
import { bracketedPaste } from "../../../agent-client/src/cli/paste.ts";

const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const end of cleanUp.splice(0)) end();
});

const ctrl = { c: "\u0003", d: "\u0004" };
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
  const input = keyboardInput({ stdin, stdout });
  cleanUp.push(input.close);
  return { input, stdin, modes, screen: () => screen, types: (text: string) => stdin.write(text) };
}
const asks = (input: Input) => input.ask({ prompt: "> " });

/** Types while nothing is asked; the Ctrl-C after it says when it has arrived. */
async function typesUnasked(input: Input, types: (text: string) => void, text: string): Promise<void> {
  const heard = vi.fn();
  const stop = input.onInterrupt(heard);
  types(`${text}${ctrl.c}`);
  await vi.waitFor(() => expect(heard).toHaveBeenCalled());
  stop();
}

it("gives a line as it was typed, with what an edit made of it", async () => {
  const { input, types, screen } = open();
  const answer = asks(input);
  types("helo\u007flo\r");
  expect(await answer).toEqual({ type: "line", text: "hello" });
  expect(screen()).toContain("> ");
});

it("takes a paste of several lines as one message, with what is typed around it", async () => {
  const { input, types, screen } = open();
  const answer = asks(input);
  types(`look: ${paste("one\r\n\ttwo\u001b[2J\nthree\n")} please\r`);
  expect(await answer).toEqual({ type: "line", text: "look: one\n\ttwo\nthree please" });
  expect(screen()).toContain("[pasted 1: 3 lines]");
});

it("takes a paste that comes in pieces, cut anywhere", async () => {
  for (const size of [2, 3, 5, 7, 11]) {
    const { input, stdin } = open();
    const answer = asks(input);
    const bytes = Buffer.from(`${paste("ä one\ntwo")}!\r`);
    for (let at = 0; at < bytes.length; at += size) stdin.write(bytes.subarray(at, at + size));
    expect(await answer).toEqual({ type: "line", text: "ä one\ntwo!" });
  }
});

it("takes a long paste at once, and a short one as if typed", async () => {
  const { input, types, screen } = open();
  const long = "x".repeat(200_000);
  const first = asks(input);
  types(`${paste(long)}\r`);
  expect(await first).toEqual({ type: "line", text: long });
  const second = asks(input);
  types(`${paste("short\n")}\r`);
  expect(await second).toEqual({ type: "line", text: "short" });
  expect(screen().length).toBeLessThan(2_000);
});

it("keeps Ctrl-C when a paste has lost its end", async () => {
  const { input, types } = open();
  const answer = asks(input);
  types("\u001b[200~lost");
  types(ctrl.c);
  expect(await answer).toEqual({ type: "interrupt" });
});

it("clears the line at Ctrl-C, and only an empty line leaves", async () => {
  const { input, types } = open();
  const first = asks(input);
  types(`wrong${ctrl.c}right\r`);
  expect(await first).toEqual({ type: "line", text: "right" });
  const second = asks(input);
  types(`wrong${ctrl.c}${ctrl.c}`);
  expect(await second).toEqual({ type: "interrupt" });
});

it("tells Ctrl-C to who listens while nothing is asked", async () => {
  const { input, types } = open();
  const heard = vi.fn();
  const stop = input.onInterrupt(heard);
  types(ctrl.c);
  await vi.waitFor(() => expect(heard).toHaveBeenCalledTimes(1));
  stop();
  const answer = asks(input);
  types(ctrl.c);
  expect(await answer).toEqual({ type: "interrupt" });
  expect(heard).toHaveBeenCalledTimes(1);
});

it("shows nothing that is typed while nothing is asked, and has it at the next prompt", async () => {
  const { input, types, screen } = open();
  await typesUnasked(input, types, "first\rsec");
  expect(await asks(input)).toEqual({ type: "line", text: "first" });
  const before = screen();
  expect(before).toBe(`${bracketedPaste.on}> first\n`);
  const answer = asks(input);
  types("ond\r");
  expect(await answer).toEqual({ type: "line", text: "second" });
});

it("takes nothing that was typed before for a decision, and has it afterwards", async () => {
  const { input, types } = open();
  await typesUnasked(input, types, "y\rhalf");
  const decision = input.ask({ prompt: "Do it? ", isDecision: true });
  types("n\r");
  expect(await decision).toEqual({ type: "line", text: "n" });
  expect(await asks(input)).toEqual({ type: "line", text: "y" });
  const next = asks(input);
  types(" done\r");
  expect(await next).toEqual({ type: "line", text: "half done" });
});

it("takes a question back", async () => {
  const { input, types } = open();
  const controller = new AbortController();
  const answer = input.ask({ prompt: "Do it? ", isDecision: true, signal: controller.signal });
  types("ye");
  controller.abort();
  expect(await answer).toEqual({ type: "withdrawn" });
  expect(await input.ask({ prompt: "? ", signal: controller.signal })).toEqual({ type: "withdrawn" });
});

it("ends at Ctrl-D, for ever", async () => {
  const { input, types } = open();
  const answer = asks(input);
  types(ctrl.d);
  expect(await answer).toEqual({ type: "end" });
  expect(await asks(input)).toEqual({ type: "end" });
});

it("leaves the terminal as it was", () => {
  const { input, modes, screen } = open();
  expect(modes).toEqual([true]);
  input.close();
  expect(modes.at(-1)).toBe(false);
  expect(screen().endsWith(bracketedPaste.off)).toBe(true);
});

it("reads a pipe a line at a time, whatever its pieces are", async () => {
  async function* bytes() {
    for (const byte of Buffer.from("ä\r\nzwei\n\ndrei")) yield Uint8Array.of(byte);
  }
  const input = pipedInput(bytes(), () => () => {});
  const texts: string[] = [];
  for (;;) {
    const answer = await asks(input);
    if (answer.type !== "line") break;
    texts.push(answer.text);
  }
  expect(texts).toEqual(["ä", "zwei", "", "drei"]);
});

it("loses no line of a pipe when the question was interrupted", async () => {
  const stdin = new PassThrough();
  const listeners = new Set<() => void>();
  const input = pipedInput(stdin, (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  });
  const first = asks(input);
  for (const listener of listeners) listener();
  expect(await first).toEqual({ type: "interrupt" });
  stdin.end("late\n");
  expect(await asks(input)).toEqual({ type: "line", text: "late" });
  expect(await asks(input)).toEqual({ type: "end" });
});

it("refuses a line without an end", async () => {
  async function* endless() {
    for (;;) yield "x".repeat(1_000_000);
  }
  await expect(asks(pipedInput(endless(), () => () => {}))).rejects.toMatchObject({
    code: "INPUT_TOO_LARGE",
  });
  await expect(readAll(endless())).rejects.toMatchObject({ code: "INPUT_TOO_LARGE" });
});
