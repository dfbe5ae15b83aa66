import type { SoundLevel } from "../ports.ts";

/** As ffmpeg's silencedetect is set for the findings of a capture. */
const silentBelowDb = -50;
/** A pause in speech or music is shorter. */
const leastGapMs = 200;

export const isSilent = ({ peakDb }: SoundLevel): boolean => !(peakDb > silentBelowDb);

/** `back` is absent while it goes on. */
export type Silence = { lost: number; back?: number };

/** The silences in levels, oldest first, by their moments. */
export function silencesIn(levels: readonly SoundLevel[]): Silence[] {
  const found: Silence[] = [];
  let lost: number | undefined;
  for (const level of levels) {
    if (isSilent(level)) lost ??= level.at;
    else if (lost !== undefined) {
      found.push({ lost, back: level.at });
      lost = undefined;
    }
  }
  if (lost !== undefined) found.push({ lost });
  return found.filter((silence) => lengthOf(silence, levels) >= leastGapMs);
}

/** In ms; of one that goes on, so far. */
export const lengthOf = ({ lost, back }: Silence, levels: readonly SoundLevel[]): number =>
  (back ?? levels.at(-1)?.at ?? lost) - lost;
