import type { SoundLevel } from "../ports.ts";

/** As ffmpeg's silencedetect is set for the findings of a capture. */
const silentBelowDb = -50;
/** A pause in speech or music is shorter. */
const leastGapMs = 200;

export const isSilent = ({ peakDb }: SoundLevel): boolean => !(peakDb > silentBelowDb);

/**
 * The first silence at or after `from`, by the moments of the levels; `back` is absent while it goes on. A silence that goes on
 * at `from` counts. Undefined where the sound never stopped.
 */
export function soundGap(
  levels: readonly SoundLevel[],
  from: number,
): { lost: number; back?: number } | undefined {
  for (const [start, end] of silences(levels)) {
    const back = levels[end]?.at;
    const lost = Math.max(from, levels[start]?.at ?? from);
    const until = back ?? levels.at(-1)?.at ?? lost;
    if (until - lost >= leastGapMs) return { lost, ...(back !== undefined && { back }) };
  }
  return undefined;
}

/** The places of each silence: its first level, and the one with sound behind it. */
function silences(levels: readonly SoundLevel[]): (readonly [number, number])[] {
  const starts = levels.flatMap((level, at) => {
    const before = levels[at - 1];
    return isSilent(level) && !(before && isSilent(before)) ? [at] : [];
  });
  return starts.map((start) => {
    const end = levels.findIndex((level, at) => at > start && !isSilent(level));
    return [start, end < 0 ? levels.length : end];
  });
}
