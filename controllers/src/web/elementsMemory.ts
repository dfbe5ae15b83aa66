import type { Frame } from "playwright-core";
import type { Element } from "../contract.ts";
import type { WebSession } from "./session.ts";

export type Remembered = { generation: number; element: Element };

/** What looks at one device have given out: refs, the numbers of frames, and where to go on counting. */
export type Memory = {
  generation: number;
  /** The next free number for refs with a prefix; shared by all tabs, so that a ref never names two elements. */
  next: Map<string, number>;
  /** The latest looks, oldest first; see {@link KEPT_LOOKS}. */
  looks: { generation: number; elements: ReadonlyMap<string, Element> }[];
  prefix(frame: Frame): string;
};

/** Refs of so many looks can still be spoken of by name. */
export const KEPT_LOOKS = 2;

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
    generation: 0,
    next: new Map(),
    looks: [],
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

export function recall(memory: Memory, ref: string): Remembered | undefined {
  for (const look of memory.looks.toReversed()) {
    const element = look.elements.get(ref);
    if (element) return { generation: look.generation, element };
  }
  return undefined;
}

/** Whether a ref was ever given out, kept or not. */
export function wasGiven(memory: Memory, ref: string): boolean {
  const [, prefix = "", number = ""] = /^(f\d+)?e(\d+)$/.exec(ref) ?? [];
  return Number(number) < (memory.next.get(prefix) ?? 1);
}
