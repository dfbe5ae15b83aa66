import type { Frame } from "playwright-core";
import { Refs } from "../../elements/refs.ts";
import type { WebSession } from "./session.ts";

/** The refs of a device, and the prefix of each frame's: `f2`, empty for the page itself. */
export type Memory = { refs: Refs; prefix(frame: Frame): string };

const memories = new WeakMap<WebSession["context"], Memory>();

/** One memory for each device, shared by looks, commands and checks. */
export function memoryOf(session: Pick<WebSession, "context">): Memory {
  let memory = memories.get(session.context);
  if (!memory) {
    memory = createMemory();
    memories.set(session.context, memory);
  }
  return memory;
}

function createMemory(): Memory {
  const frames = new WeakMap<Frame, number>();
  let numbered = 0;
  return {
    refs: new Refs(),
    prefix(frame) {
      if (!frame.parentFrame()) return "";
      let number = frames.get(frame);
      if (number === undefined) {
        number = ++numbered;
        frames.set(frame, number);
      }
      return `f${number}`;
    },
  };
}
