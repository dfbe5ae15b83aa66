import type { SoundLevel } from "../ports.ts";

/** Of full scale. Dither and the noise of a capture card stay below. */
export const silentDb = -60;

/** How long a level lasts, in milliseconds. */
export const levelMs = 100;
/** Of a silence: its first and its last level may have some sound. */
export const silenceErrorMs = 2 * levelMs;
/** A longer gap between two levels is time of which nothing is known. */
const mostLevelMs = 5 * levelMs;

/**
 * `loudness` is the mean of the momentary loudness in power, in LUFS. `knownMs` is how long the levels last together, and
 * `silentMs` the longest time without sound among them.
 */
export type Heard = { peakDb: number; loudness: number; knownMs: number; silentMs: number };

/** What levels say, oldest first. Of none at all: no sound, known for 0 ms. */
export function heardIn(levels: readonly SoundLevel[]): Heard {
  let [knownMs, silentMs, silence, power] = [0, 0, 0, 0];
  levels.forEach(({ at, peakDb, loudness }, index) => {
    const gap = (levels[index + 1]?.at ?? at + levelMs) - at;
    const ms = Math.min(gap, mostLevelMs);
    knownMs += ms;
    silence = peakDb < silentDb ? silence + ms : 0;
    silentMs = Math.max(silentMs, silence);
    if (gap > mostLevelMs) silence = 0;
    power += 10 ** (loudness / 10) / levels.length;
  });
  const peakDb = levels.reduce((most, level) => Math.max(most, level.peakDb), Number.NEGATIVE_INFINITY);
  return { peakDb, loudness: 10 * Math.log10(power), knownMs, silentMs };
}
