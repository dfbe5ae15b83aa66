import type { Rect } from "../shapes.ts";
import { isConfirmed } from "./imageConfirm.ts";
import type { Engine, Scores } from "./imageEngine.ts";
import { cut, type Plane, resized, spread, withoutBorder } from "./planes.ts";

/** `scales` are tried in their order; `most` is how many matches are wanted; matches have `score` or more. */
export type Wanted = {
  template: Plane;
  mask?: Plane;
  score: number;
  scales: readonly number[];
  most: number;
};
/** A place that looks like the template. Not `isConfirmed`: something in it is different. */
export type Match = Rect & { score: number; scale: number; isConfirmed: boolean };
/** A picture, its half, and its quarter. */
export type Pyramid = readonly [Plane, Plane, Plane];

/** Fewer pixels than this on a side carry too little at a smaller size. */
const leastSide = 6;
const fewestPeaks = 12;
/** A place is looked at in full size if its score is no more than this below the best one's. */
const mostBehind = 0.15;
/** How far a place may be off after it was found at a quarter of the size. */
const reach = 6;
const leastPeak = 0.2;
/** Of this score and confirmed, no other scale is tried. */
const sure = 0.95;
const flatBelow = 4;
/** Between the scales that are tried. */
const halfStep = 0.01;

export const pyramidOf = (engine: Engine, whole: Plane): Pyramid => {
  const half = engine.halved(whole);
  return [whole, half, engine.halved(half)];
};

/** The matches that are confirmed and have the score, best first, at one scale; without any, the one place that is most like it. */
export function search(engine: Engine, pyramid: Pyramid, wanted: Wanted): Match[] {
  const best: Match[] = [];
  const tried = new Set<number>();
  let nearest: Match | undefined;
  const attempt = (scale: number) => {
    if (tried.has(scale)) return;
    tried.add(scale);
    const found = atScale(engine, pyramid, wanted, scale);
    const [first] = found;
    if (first && first.score > (nearest?.score ?? -1)) nearest = first;
    const good = found.filter((match) => match.isConfirmed && match.score >= wanted.score);
    if ((good[0]?.score ?? -1) > (best[0]?.score ?? -1)) best.splice(0, best.length, ...good);
  };
  for (const scale of wanted.scales) {
    attempt(scale);
    if ((best[0]?.score ?? 0) >= sure) return best;
  }
  if (best.length === 0 && nearest && wanted.scales.length > 1) {
    const { scale } = nearest;
    attempt(scale - halfStep);
    attempt(scale + halfStep);
  }
  return best.length > 0 || !nearest ? best : [nearest];
}

/** The template at one scale, and how it is compared. */
type Subject = { template: Plane; mask: Plane | undefined; isFlat: boolean; compare: Compare };

function subjectAt(engine: Engine, { template: given, mask: givenMask }: Wanted, scale: number): Subject {
  const template = scale === 1 ? given : resized(given, scale);
  const mask = scale === 1 || !givenMask ? givenMask : onlyFull(resized(givenMask, scale));
  const isFlat = spread(template, mask) < flatBelow;
  const method = isFlat ? "difference" : "correlation";
  return { template, mask, isFlat, compare: (image, part, of) => engine.scores(image, part, method, of) };
}

/** What looks like the template at a scale, best first, without overlaps. */
function atScale(engine: Engine, pyramid: Pyramid, wanted: Wanted, scale: number): Match[] {
  const [whole] = pyramid;
  const subject = subjectAt(engine, wanted, scale);
  const { level, part, partMask } = lessened(engine, subject.template, subject.mask);
  const image = pyramid[level] ?? whole;
  if (part.width > image.width || part.height > image.height) return [];
  const radius = { x: Math.max(1, part.width >> 1), y: Math.max(1, part.height >> 1) };
  const most = Math.max(fewestPeaks, Math.min(2 * wanted.most, 200));
  const peaks = peaksOf(subject.compare(image, part, partMask), most, radius);
  const found: Match[] = [];
  const behind = wanted.most === 1 ? mostBehind : Number.POSITIVE_INFINITY;
  let least = 0;
  for (const peak of peaks) {
    if (peak.score < least) break;
    least = Math.max(least, peak.score - behind);
    const match = matchAt(peak, level, whole, subject, scale);
    if (match) found.push(match);
    if (isEnough(match, wanted)) break;
  }
  return apart(found, wanted.most);
}

const isEnough = (match: Match | undefined, { most }: Wanted) =>
  most === 1 && match?.isConfirmed === true && match.score >= sure;

function matchAt(
  peak: Peak,
  level: number,
  whole: Plane,
  { template, mask, isFlat, compare }: Subject,
  scale: number,
): Match | undefined {
  const { width, height } = template;
  if (width > whole.width || height > whole.height) return undefined;
  const place = level === 0 ? peak : refined(peak, level, whole, template, mask, compare);
  if (!place) return undefined;
  const area = { x: place.x, y: place.y, width, height };
  return {
    ...area,
    score: place.score,
    scale,
    isConfirmed: isConfirmed(template, cut(whole, area), isFlat, mask),
  };
}

type Peak = { x: number; y: number; score: number };
type Compare = (image: Plane, part: Plane, mask?: Plane) => Scores;

/** The template at the smallest of the sizes at which it differs from others. */
function lessened(engine: Engine, template: Plane, mask?: Plane) {
  const side = Math.min(template.width, template.height);
  const level = side >= 4 * leastSide ? 2 : side >= 2 * leastSide ? 1 : 0;
  if (level === 0) return { level, part: template, partMask: mask };
  const small = (plane: Plane) =>
    withoutBorder(level === 2 ? engine.halved(engine.halved(plane)) : engine.halved(plane));
  // A pixel that is partly of the surroundings does not count.
  const partMask = mask && onlyFull(small(mask));
  return { level, part: small(template), partMask: partMask?.bytes.some(Boolean) ? partMask : undefined };
}

const onlyFull = (mask: Plane): Plane => ({
  ...mask,
  bytes: mask.bytes.map((value) => (value > 240 ? 255 : 0)),
});

/** The best places, best first, none within `radius` of another. Each is looked for when it is asked for. */
function* peaksOf(
  { values, width, height }: Scores,
  most: number,
  radius: { x: number; y: number },
): Generator<Peak> {
  for (let found = 0; found < most; found++) {
    let at = -1;
    let score = leastPeak;
    for (let index = 0; index < values.length; index++)
      if ((values[index] ?? 0) > score) [at, score] = [index, values[index] ?? 0];
    if (at < 0) return;
    const [x, y] = [at % width, Math.floor(at / width)];
    yield { x, y, score };
    for (let row = Math.max(0, y - radius.y); row <= Math.min(height - 1, y + radius.y); row++)
      values.fill(
        -1,
        row * width + Math.max(0, x - radius.x),
        row * width + Math.min(width, x + radius.x + 1),
      );
  }
}

/** The best place in full size around one in a smaller size, which was found without its border. */
function refined(
  peak: Peak,
  level: number,
  whole: Plane,
  template: Plane,
  mask: Plane | undefined,
  compare: Compare,
): Peak | undefined {
  const [x, y] = [(peak.x - 1) << level, (peak.y - 1) << level];
  const left = Math.max(0, Math.min(x - reach, whole.width - template.width));
  const top = Math.max(0, Math.min(y - reach, whole.height - template.height));
  const right = Math.min(whole.width, x + reach + template.width);
  const bottom = Math.min(whole.height, y + reach + template.height);
  const size = { width: right - left, height: bottom - top };
  if (size.width < template.width || size.height < template.height) return undefined;
  const scores = compare(cut(whole, { x: left, y: top, ...size }), template, mask);
  const [best] = peaksOf(scores, 1, { x: 0, y: 0 });
  return best && { x: best.x + left, y: best.y + top, score: best.score };
}

/** Confirmed ones first where two overlap by more than half a side. */
function apart(found: readonly Match[], most: number): Match[] {
  const kept: Match[] = [];
  const ranked = found.toSorted((a, b) => Number(b.isConfirmed) - Number(a.isConfirmed) || b.score - a.score);
  for (const match of ranked) {
    const isNew = kept.every(
      ({ x, y }) => Math.abs(x - match.x) > match.width / 2 || Math.abs(y - match.y) > match.height / 2,
    );
    if (isNew && kept.length < most) kept.push(match);
  }
  return kept;
}
