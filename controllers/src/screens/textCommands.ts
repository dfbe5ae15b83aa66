import { z } from "zod";
import { type Command, defineCommand } from "../contract.ts";
import { hasTarget, targetShape, timeoutShape } from "../elements/target.ts";
import { DeviceError } from "../errors.ts";
import { portable } from "../portable.ts";
import { type ScreenInput, sent } from "./input.ts";
import type { ScreenReader } from "./reader.ts";
import { type Seen, seenAgain } from "./screen.ts";
import { isField } from "./tree.ts";

/** How a driver types. Its fields were reached by the input. */
export type Typing = {
  /** Throws UNICODE_UNSUPPORTED, before anything is sent, for a text that cannot be typed. */
  check?(text: string): void;
  /** Replaces what a field holds, and reads it back. */
  replace(field: Seen, text: string, signal: AbortSignal): Promise<void>;
  /** Types behind what is there: in a field, else where the focus is. */
  append(field: Seen | undefined, text: string, signal: AbortSignal): Promise<void>;
};

export function textCommands(input: () => ScreenInput, typing: Typing): Command[] {
  const reachField = async ({ timeout_ms, ...target }: z.output<typeof fieldInput>, signal: AbortSignal) => {
    const seen = await input().reach(target, timeout_ms, signal);
    if (isField(seen.node)) return { seen, what: input().reader.describe(seen) };
    throw new DeviceError(
      "ELEMENT_NOT_ACTIONABLE",
      `${input().reader.describe(seen)} takes no text. Choose a text field.`,
    );
  };
  return [
    defineCommand({
      ...portable.input_text,
      async run({ text, ...field }, signal) {
        typing.check?.(text);
        const { seen, what } = await reachField(field, signal);
        await typing.replace(seen, text, signal);
        return sent(`typed into ${what}`);
      },
    }),
    defineCommand<typeof fieldInput>({
      name: "clear_text",
      description: "Empties a field.",
      effect: "write",
      input: fieldInput,
      async run(field, signal) {
        const { seen, what } = await reachField(field, signal);
        await typing.replace(seen, "", signal);
        return sent(`emptied ${what}`);
      },
    }),
    defineCommand({
      ...portable.type_text,
      async run({ text, ...field }, signal) {
        typing.check?.(text);
        const reached = hasTarget(field) ? await reachField(field, signal) : undefined;
        await typing.append(reached?.seen, text, signal);
        return sent(reached ? `typed into ${reached.what}` : "typed where the focus is");
      },
    }),
  ];
}

const fieldInput = z.strictObject({ ...targetShape, ...timeoutShape });

const unreadable: ReadonlySet<string> = new Set(["NOT_IDLE", "TREE_EMPTY", "UIA_BUSY"]);

/** Throws INPUT_NOT_TAKEN where no field has the focus; a screen that cannot be read now may have one. */
export async function demandFocus(reader: ScreenReader, signal: AbortSignal): Promise<void> {
  try {
    const { seen } = await reader.recent(signal);
    if (seen.some(({ node }) => node.focused && isField(node))) return;
  } catch (error) {
    if (error instanceof DeviceError && unreadable.has(error.code)) return;
    throw error;
  }
  throw new DeviceError(
    "INPUT_NOT_TAKEN",
    "No field has the focus, so nothing was typed. Name a field, or click one first.",
  );
}

/** Reads back what the field holds; of a password only its length is known. Throws INPUT_NOT_TAKEN. */
export async function confirmText(
  reader: ScreenReader,
  before: Seen,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const field = seenAgain(await reader.recent(signal), before);
  const held = field?.element.value;
  // The field may go with what was typed, as a search does that begins by itself; an empty one may show a hint.
  if (held === undefined || (text === "" && !before.node.hint)) return;
  // What was typed may read like the hint.
  const isHeld = held === text || field?.node.text === text;
  if (before.node.password ? [...held].length === [...text].length : isHeld) return;
  throw new DeviceError(
    "INPUT_NOT_TAKEN",
    `${reader.describe(before)} does not hold what was typed: the app changed or refused a part of it. Look at the field.`,
  );
}
