import type { Sound } from "../ports.ts";

/** A block of 4,096 samples at 16,000 a second resolves tones 4 Hz apart. */
const blockSize = 4_096;
/** The window of a block spreads a tone over so many Hz to both sides. */
const spreadHz = 8;

/** The power of one frequency in a block, by Goertzel's algorithm with a Hann window; 1 for a sine of full scale. */
function powerAt(samples: Float32Array, perSecond: number, hz: number): number {
  const twice = 2 * Math.cos((2 * Math.PI * hz) / perSecond);
  let [before, last] = [0, 0];
  for (let at = 0; at < samples.length; at++) {
    const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / (samples.length - 1));
    [before, last] = [last, (samples[at] ?? 0) * window + twice * last - before];
  }
  return (last * last + before * before - twice * last * before) / (samples.length / 4) ** 2;
}

/**
 * The strongest frequency around `hz` ± `tolerance`, to 1 Hz, and its share of the whole sound's power, 0 to 1: of the loudest
 * block. One beyond the tolerance is found too, so that its flank is not taken for a tone within. Undefined for less than a
 * block or for silence.
 */
export function toneNear(
  { samples, perSecond }: Pick<Sound, "samples" | "perSecond">,
  hz: number,
  tolerance: number,
): { hz: number; share: number } | undefined {
  let [block, power]: [Float32Array, number] = [new Float32Array(), 1e-8];
  for (let at = 0; at + blockSize <= samples.length; at += blockSize) {
    const part = samples.subarray(at, at + blockSize);
    const mean = part.reduce((sum, one) => sum + one * one, 0) / blockSize;
    if (mean > power) [block, power] = [part, mean];
  }
  if (block.length === 0) return undefined;
  let found = { hz, power: 0 };
  const reach = Math.ceil(tolerance + spreadHz);
  for (let step = -reach; step <= reach; step++) {
    const tried = { hz: hz + step, power: powerAt(block, perSecond, hz + step) };
    if (tried.power > found.power) found = tried;
  }
  // A sine of amplitude 1 has the power 1/2.
  return { hz: found.hz, share: Math.min(1, found.power / (2 * power)) };
}
