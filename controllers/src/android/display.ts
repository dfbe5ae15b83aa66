import type { Space } from "../contract.ts";

/** A line for the device's shell that says how its own display is; {@link displayIn} reads it. */
export const displayLine = "dumpsys display | grep -E 'mDisplayId=|mOverrideDisplayInfo='";

/** As it is turned and folded now. `id` is its number for screencap. */
export type OwnDisplay = Space & { id?: string };

const rotations = [0, 90, 180, 270] as const;

/**
 * The display 0, wherever it is listed: a second screen, a cast and a folded phone's other screen are displays, too.
 *
 *     mDisplayId=0
 *     mOverrideDisplayInfo=DisplayInfo{"Built-in Screen", displayId 0, real 1080 x 2400, …, rotation 1, …, uniqueId "local:461…"}
 */
export function displayIn(text: string): OwnDisplay | undefined {
  const info = /mDisplayId=0\s+mOverrideDisplayInfo=(.*)/.exec(text)?.[1] ?? "";
  const [, width, height] = /\breal (\d+) x (\d+)/.exec(info) ?? [];
  const rotation = rotations[Number(/, rotation ([0-3])\b/.exec(info)?.[1])];
  if (width === undefined || height === undefined || rotation === undefined) return undefined;
  const id = /\buniqueId "local:(\d+)"/.exec(info)?.[1];
  return { width: Number(width), height: Number(height), rotation, ...(id !== undefined && { id }) };
}
