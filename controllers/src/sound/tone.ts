import type { Sound } from "../ports.ts";

/** A block of 4,096 samples at 16,000 a second resolves tones 4 Hz apart. */
const blockSize = 4_096;

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
 * The strongest frequency within `hz` ± `tolerance`, and its share of the whole sound's power, 0 to 1: of the loudest block.
 * Undefined for less than a block or for silence.
 */
export function toneNear(
  { samples, perSecond }: Pick<Sound, "samples" | "perSecond">,
  hz: number,
  tolerance: number,
): { hz: number; share: number } | undefined {
  const blocks = Array.from({ length: Math.floor(samples.length / blockSize) }, (_, at) =>
    samples.subarray(at * blockSize, (at + 1) * blockSize),
  );
  const loudest = blocks
    .map((block) => ({ block, power: block.reduce((sum, one) => sum + one * one, 0) / block.length }))
    .sort((one, other) => other.power - one.power)[0];
  if (!loudest || loudest.power < 1e-8) return undefined;
  const step = Math.max(1, tolerance / 50);
  const count = Math.floor(tolerance / step);
  const tried = Array.from({ length: 2 * count + 1 }, (_, at) => hz + (at - count) * step);
  const found = tried
    .map((at) => ({ hz: at, power: powerAt(loudest.block, perSecond, at) }))
    .reduce((best, one) => (one.power > best.power ? one : best));
  // A sine of amplitude 1 has the power 1/2.
  return { hz: found.hz, share: Math.min(1, found.power / (2 * loudest.power)) };
}
