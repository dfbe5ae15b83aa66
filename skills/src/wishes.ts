import type { Fit } from "./fit.ts";

/** Where one wish ends and another may begin. */
const joint =
  /(?:[.;!?,]|\s-)*\s(?:and|also|then|plus|et|puis|ensuite|und|dann|danach|sowie|außerdem|anschließend)\s/giu;
/** Of a longer list only the first are tried. */
const maxJoints = 8;

/**
 * How much better two skills fit a text, each a part of it, than one skill fits both parts: 0 or more, in the unit of a
 * fit; 0 for a text of one part.
 */
export function gainOfTwo(text: string, fitOf: (part: string) => Fit): number {
  const joints = [...text.matchAll(joint)].slice(0, maxJoints);
  const gains = joints.map(({ index, 0: { length } }) => {
    const [one, other] = [fitOf(text.slice(0, index)).scores, fitOf(text.slice(index + length)).scores];
    const both = one.map((score, at) => score + (other[at] ?? 0));
    return Math.max(...one) + Math.max(...other) - Math.max(...both);
  });
  return Math.max(0, ...gains);
}
