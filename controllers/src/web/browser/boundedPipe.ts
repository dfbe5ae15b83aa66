import { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { Readable } from "node:stream";
import { BoundedMessages } from "./boundedMessages.ts";

let isSubscribed = false;

/**
 * From now on, what a browser that Playwright starts sends over its pipe is bounded before Playwright reads it. Playwright itself has
 * no limit there, and no option for a pipe of ours.
 */
export function boundPipes(): void {
  if (isSubscribed) return;
  isSubscribed = true;
  subscribe("child_process", (message) => {
    const child: unknown = Object(message).process;
    if (child instanceof ChildProcess) child.once("spawn", () => boundPipeOf(child));
  });
}

function boundPipeOf({ spawnargs, stdio }: ChildProcess): void {
  const pipe = stdio[4];
  if (
    !(pipe instanceof Readable) ||
    !spawnargs.some((arg) => /^-(-remote-debugging|juggler)-pipe$/.test(arg))
  )
    return;
  const messages = new BoundedMessages();
  const emit = pipe.emit.bind(pipe);
  pipe.emit = (event: string | symbol, ...args: unknown[]) => {
    const [chunk] = args;
    if (event !== "data" || !(chunk instanceof Buffer)) return emit(event, ...args);
    for (const piece of messages.push(chunk)) emit("data", piece);
    return true;
  };
}
