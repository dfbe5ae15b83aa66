import {
  type Interruption,
  interruptionsOf,
  isBlack,
  isJump,
  leastFreezeMs,
  type MotionBefore,
  msBetween,
  type Waiting,
} from "./interruption.ts";
import { type Sample, tileCount } from "./sample.ts";

/** Nothing else may follow a direct cut so soon, or the cut was one of the old channel. */
const cutPatienceMs = 2_000;
/** A new picture that has not moved for so long is one that stands still. */
const stillAfterMs = 3_000;

/** From when, and until when: times of the source in ms. `from` is undefined where it began before the key. */
export type Span = { from: number | undefined; until: number };

/**
 * What a change of channel looked like; places are of samples. `lastOld` shows the old channel for the last time, `firstNew` the
 * new one for the first time, and from `steady` on it moves without a pause. `isDone`: more frames would change nothing.
 */
export type Zap = {
  how: "black" | "spinner" | "freeze" | "direct_cut";
  lastOld: number;
  firstNew: number;
  steady?: number;
  isStill: boolean;
  black?: Span;
  freeze?: Span;
  spinner?: Span;
  /** Further cuts within two seconds of a direct one: each of them may be the change as well. */
  laterCuts: readonly number[];
  isDone: boolean;
};

/** Undefined while no other picture has come since the key. `keyMs` is on the source's clock. */
export function zapOf(samples: readonly Sample[], keyMs: number, steadyMs: number): Zap | undefined {
  const from = samples.findIndex(({ presentedMs }) => presentedMs > keyMs);
  const change = from < 1 ? undefined : changeOf(samples, from);
  if (!change) return undefined;
  const { firstNew, interruption } = change;
  const marks = interruption?.marks ?? [];
  const darkAt = marks.findIndex(isDark);
  const how = howOf(marks);
  const steady = steadyFrom(samples, firstNew, steadyMs);
  const shownMs = msBetween(samples, firstNew, samples.length - 1);
  const isStill = steady === undefined && shownMs >= stillAfterMs;
  const isSure = how !== "direct_cut" || shownMs >= cutPatienceMs;
  return {
    ...{ how, firstNew, isStill },
    lastOld: (interruption && darkAt >= 0 ? interruption.first + darkAt : firstNew) - 1,
    ...(steady !== undefined && { steady }),
    ...(interruption && spansOf(samples, interruption)),
    laterCuts: how === "direct_cut" ? laterCuts(samples, firstNew) : [],
    isDone: isStill || (steady !== undefined && isSure),
  };
}

/** A fade to black is small and moving for a few frames as well. */
const leastSpins = 5;
const isDark = (mark: Waiting): boolean => mark === "black" || mark === "dim";
const isFrozen = (mark: Waiting): boolean => !isDark(mark);
const isSpinning = (mark: Waiting): boolean => mark === "dim" || mark === "spinner";

function howOf(marks: readonly Waiting[]): Zap["how"] {
  if (marks.filter(isSpinning).length >= leastSpins) return "spinner";
  if (marks.length === 0) return "direct_cut";
  return marks.includes("black") ? "black" : "freeze";
}

const laterCuts = (samples: readonly Sample[], firstNew: number): number[] =>
  samples.flatMap(({ isCut }, at) =>
    isCut && at > firstNew && msBetween(samples, firstNew, at) <= cutPatienceMs ? [at] : [],
  );

type Change = { firstNew: number; interruption?: Interruption };

/**
 * The first of: black, a picture that stands still and ends in a cut, a cut alone. Within two seconds of one, the one before it in
 * this list replaces it: the other was of the old channel, or a flash.
 */
function changeOf(samples: readonly Sample[], from: number): Change | undefined {
  const all = interruptionsOf(samples, from, motionBefore(samples, from));
  const newest = samples.length - 1;
  const ended = (is: (one: Interruption) => boolean | undefined): Change | undefined => {
    const interruption = all.find((one) => one.last < newest && is(one));
    return interruption && { firstNew: interruption.last + 1, interruption };
  };
  const dark = ended(({ marks }) => marks.some(isDark));
  const frozen = ended(({ last }) => samples[last + 1]?.isCut || isJump(samples, last + 1));
  const cut = samples.findIndex(({ isCut }, at) => at >= from && isCut);
  const found = [cut < 0 ? undefined : { firstNew: cut }, frozen, dark].filter((one) => one !== undefined);
  const first = found.toSorted((a, b) => a.firstNew - b.firstNew)[0];
  const follows = (begun: number) => first && msBetween(samples, first.firstNew, begun) <= cutPatienceMs;
  const chosen = found.findLast((one) => follows(one.interruption?.first ?? one.firstNew));
  const isDarkNow = all.some(
    ({ first: begun, last, marks }) => last === newest && marks.some(isDark) && (!first || follows(begun)),
  );
  return isDarkNow ? undefined : chosen;
}

/** How the old channel moved in the second before the key. */
function motionBefore(samples: readonly Sample[], from: number): MotionBefore {
  const last = samples.filter((_, at) => at > 0 && at < from && msBetween(samples, at, from) <= 1_000);
  const tiles = new Set(last.flatMap(({ changed }) => changed));
  return { isThere: tiles.size > 0, isWide: tiles.size > tileCount / 4 };
}

function spansOf(samples: readonly Sample[], { first, marks }: Interruption): Partial<Zap> {
  const timeOf = (at: number) => samples[at]?.presentedMs ?? 0;
  const span = (is: (mark: Waiting) => boolean, lead: 0 | 1): Span | undefined => {
    const start = marks.findIndex(is);
    if (start < 0) return undefined;
    const before = samples[first + start - 1];
    const isOlder = lead === 0 && start === 0 && before !== undefined && isBlack(before);
    return {
      from: isOlder ? undefined : timeOf(first + start - lead),
      until: timeOf(first + marks.findLastIndex(is) + 1),
    };
  };
  const [black, freeze, spinner] = [
    span(isDark, 0),
    span(isFrozen, 1),
    howOf(marks) === "spinner" ? span(isSpinning, 0) : undefined,
  ];
  return { ...(black && { black }), ...(freeze && { freeze }), ...(spinner && { spinner }) };
}

/** From which sample on the picture moves for `steadyMs` without standing still or black. */
function steadyFrom(samples: readonly Sample[], firstNew: number, steadyMs: number): number | undefined {
  const moving = samples.flatMap((sample, at) =>
    at === firstNew || (at > firstNew && sample.changed.length > 0 && !isBlack(sample)) ? [at] : [],
  );
  let start = firstNew;
  for (const [order, at] of moving.entries()) {
    const before = moving[order - 1] ?? at;
    const wasDark = samples.slice(before, at).some(isBlack);
    if (wasDark || msBetween(samples, before, at) > leastFreezeMs) start = at;
    if (msBetween(samples, start, at) >= steadyMs) return start;
  }
  return undefined;
}
