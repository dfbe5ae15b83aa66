import { type Sample, tileColumns, tileCount } from "./sample.ts";

/**
 * What the picture does instead of showing a programme. `dim`: something small moves on black; `spinner`: something small moves
 * over a picture that stands still otherwise.
 */
export type Waiting = "black" | "dim" | "spinner" | "freeze";
/** Places of samples, both included, and the mark of each. */
export type Interruption = { first: number; last: number; marks: readonly Waiting[] };
/** How the picture was before: whether it moved at all, and in a large part of it. A still picture cannot be seen to freeze. */
export type MotionBefore = { isThere: boolean; isWide: boolean };

/** A picture that stands still for less is one of a programme with fewer frames than its source. */
export const leastFreezeMs = 160;
/** A flash between two black pictures does not end the black. */
const longestFlashMs = 100;
const blackFrom = 0.98;
const nearlyBlackFrom = 0.85;
/** A spinner, a loading bar, a number in a corner: this part of the picture at most. */
const smallPart = 0.15 * tileCount;
/** A small movement over a picture that stands still for less is one of a programme. */
const leastSpinnerMs = 400;
/** A picture that goes on elsewhere, after it stood still for so long, is another one. */
const leastFreezeBeforeJumpMs = 400;
const leastJump = 1.2;
const jumpOverMotion = 2;

export const isBlack = ({ dark }: Sample): boolean => dark >= blackFrom;

/**
 * What comes between pictures from the sample `from` on, in order. One ends with another picture or with the last sample. A
 * picture that stands still counts where black or a cut follows it: a programme may pause, too.
 */
export function interruptionsOf(
  samples: readonly Sample[],
  from: number,
  before: MotionBefore,
): Interruption[] {
  const marks = samples.map((sample, at) => (at < from ? undefined : darkMark(sample)));
  bridgeFlashes(samples, marks);
  if (before.isThere) {
    const ends = samples.flatMap(({ isCut }, at) =>
      at > from && marks[at - 1] === undefined && (isCut || marks[at] || isJump(samples, at)) ? [at] : [],
    );
    for (const end of ends) markStandstill(samples, marks, { from, end, mayMove: before.isWide });
  }
  return stretchesOf(marks, from);
}

/** Two channels may look alike: then what follows a still picture changes too little for a cut, but more than what moved right before it. */
export function isJump(samples: readonly Sample[], at: number): boolean {
  const moved = samples.findLastIndex(({ changed }, place) => place < at && changed.length > 0);
  if (moved < 0 || msBetween(samples, moved, at - 1) < leastFreezeBeforeJumpMs) return false;
  const motion = samples.slice(Math.max(0, moved - 5), moved + 1).map(({ difference }) => difference);
  const usual = motion.toSorted((a, b) => a - b)[Math.floor(motion.length / 2)] ?? 0;
  return (samples[at]?.difference ?? 0) >= Math.max(leastJump, jumpOverMotion * usual);
}

function stretchesOf(marks: readonly (Waiting | undefined)[], from: number): Interruption[] {
  const found: Interruption[] = [];
  for (let at = from; at < marks.length; at++) {
    const mark = marks[at];
    if (!mark) continue;
    const last = found.at(-1);
    if (last?.last === at - 1) found[found.length - 1] = { ...last, last: at, marks: [...last.marks, mark] };
    else found.push({ first: at, last: at, marks: [mark] });
  }
  return found;
}

function darkMark(sample: Sample): Waiting | undefined {
  const isSmall = sample.lit.length <= smallPart;
  if (!isBlack(sample) && !(sample.dark >= nearlyBlackFrom && isSmall)) return undefined;
  const moves = sample.changed.length > 0 && sample.changed.length <= smallPart;
  return sample.lit.length > 0 && isSmall && moves ? "dim" : "black";
}

type Standstill = { from: number; end: number; mayMove: boolean };

/** Marks the samples before `end` in which the picture stood still, or in which something small moved in one place. */
function markStandstill(
  samples: readonly Sample[],
  marks: (Waiting | undefined)[],
  { from, end, mayMove }: Standstill,
): void {
  const moved = samples.findLastIndex(({ changed }, at) => at < end && at >= from - 1 && changed.length > 0);
  const stillFrom = Math.max(from, moved + 1);
  if (msBetween(samples, stillFrom - 1, end - 1) >= leastFreezeMs) {
    marks.fill("freeze", stillFrom, end);
    return;
  }
  const first = mayMove ? spinnerFrom(samples, from, end) : end;
  if (first === end || msBetween(samples, first - 1, end - 1) < leastSpinnerMs) return;
  const firstMove = samples.findIndex(({ changed }, at) => at >= first && changed.length > 0);
  marks.fill("freeze", first, firstMove);
  marks.fill("spinner", firstMove, end);
}

/** The first sample from which on all that changes is what changes in the last of them; `end` where that is too much. */
function spinnerFrom(samples: readonly Sample[], from: number, end: number): number {
  const seen = new Set<number>();
  let first = end;
  while (first - 1 >= from) {
    const changed = samples[first - 1]?.changed ?? [];
    const isLearning = msBetween(samples, first - 1, end - 1) < leastSpinnerMs;
    if (!isLearning && !changed.every((place) => isNear(place, seen))) break;
    const together = new Set([...seen, ...changed]);
    if (together.size > smallPart) break;
    for (const place of changed) seen.add(place);
    first--;
  }
  return first;
}

const isNear = (place: number, seen: ReadonlySet<number>): boolean =>
  [-tileColumns, 0, tileColumns].some((row) => [-1, 0, 1].some((step) => seen.has(place + row + step)));

function bridgeFlashes(samples: readonly Sample[], marks: (Waiting | undefined)[]): void {
  let black = Number.NaN;
  for (let at = 0; at < marks.length; at++) {
    if (marks[at] !== "black") continue;
    const isFlash = at - black > 1 && msBetween(samples, black, at) <= longestFlashMs;
    if (isFlash) for (let between = black + 1; between < at; between++) marks[between] = "black";
    black = at;
  }
}

export const msBetween = (samples: readonly Sample[], one: number, other: number): number =>
  (samples[other]?.presentedMs ?? 0) - (samples[one]?.presentedMs ?? 0);
