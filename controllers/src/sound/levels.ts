import type { SoundLevel } from "../ports.ts";

/** Of full scale. Dither and the noise of a capture card stay below. */
export const silentDb = -60;

/** `spanMs` is from the first level to the last. `loudness` is the mean of the momentary loudness in power, in LUFS. */
export type Heard = { peakDb: number; loudness: number; spanMs: number };

/** Undefined for fewer than two levels. */
export function heardIn(levels: readonly SoundLevel[]): Heard | undefined {
  const [first, last] = [levels[0], levels.at(-1)];
  if (!first || !last || first === last) return undefined;
  const powers = levels.map(({ loudness }) => 10 ** (loudness / 10));
  const mean = powers.reduce((sum, power) => sum + power, 0) / powers.length;
  return {
    peakDb: Math.max(...levels.map(({ peakDb }) => peakDb)),
    loudness: 10 * Math.log10(mean),
    spanMs: last.at - first.at,
  };
}

/** The longest time without sound, in milliseconds; levels are oldest first. */
export function longestSilence(levels: readonly SoundLevel[], belowDb = silentDb): number {
  let [from, longest]: [number | undefined, number] = [undefined, 0];
  for (const { at, peakDb } of levels) {
    from = peakDb < belowDb ? (from ?? at) : undefined;
    if (from !== undefined) longest = Math.max(longest, at - from);
  }
  return longest;
}
