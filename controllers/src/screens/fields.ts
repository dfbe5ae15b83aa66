import { DeviceError } from "../errors.ts";
import type { ScreenReader } from "./reader.ts";
import { isField } from "./roles.ts";
import type { Screen, Seen } from "./screen.ts";

/** The same field in another look. */
export const seenAgain = ({ seen }: Screen, field: Seen): Seen | undefined =>
  seen.find(({ key }) => key === field.key);

/** Throws ELEMENT_NOT_ACTIONABLE for what takes no text. */
export function onlyField(reader: ScreenReader, seen: Seen): void {
  if (isField(seen.node)) return;
  throw new DeviceError(
    "ELEMENT_NOT_ACTIONABLE",
    `${reader.describe(seen)} takes no text. Choose a text field.`,
  );
}

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

/** Reads back what the field holds; of a password only its length can be told. Throws INPUT_NOT_TAKEN. */
export async function confirmText(
  reader: ScreenReader,
  before: Seen,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const field = seenAgain(await reader.recent(signal), before);
  const held = field?.element.value;
  // The field may go with what was typed, as a search does that begins by itself; an empty one may show a hint.
  if (held === undefined || (text === "" && before.node.hint === "")) return;
  // What was typed may read like the hint.
  const isHeld = held === text || field?.node.text === text;
  if (before.node.password ? [...held].length === [...text].length : isHeld) return;
  throw new DeviceError(
    "INPUT_NOT_TAKEN",
    `${reader.describe(before)} does not hold what was typed: the app changed or refused a part of it. Look at the field.`,
  );
}
