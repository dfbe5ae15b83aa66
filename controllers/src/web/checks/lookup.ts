import type { Locator } from "playwright-core";
import type { Check, Reading } from "../../contract.ts";
import { inconclusive } from "../../elements/readings.ts";
import { wantedText } from "../../elements/selectors.ts";
import { onlyTarget, type Target } from "../../elements/target.ts";
import { countAll, describe, frameOfRef } from "../acting/locate.ts";
import { type CheckSession, testIdAttributeOf } from "../browser/session.ts";
import type { DescribeOptions } from "../page/agent/agent.ts";
import type { Description } from "../page/agent/answers.ts";
import {
  type Found,
  type FrameAnswer,
  findInAllFrames,
  locatorIn,
  MAX_FRAMES,
  nearestOnScreen,
} from "../page/elementsInFrames.ts";
import { forPage, type PageSelector, pageGrammar } from "../page/selectors.ts";

/** The matches of a target in all frames. */
export type Lookup = {
  target: string;
  count: number;
  first: Description | undefined;
  found: FrameAnswer<Found>[];
  /** The words of the selector; undefined for a ref. */
  wanted: string | undefined;
};

/** A part of the page did not answer, so what was not found may be there. */
export class SilentFrames extends Error {
  constructor(count: number) {
    super(`${count} of the page's frames did not answer, or are beyond the first ${MAX_FRAMES}`);
  }
}

/** Makes the check inconclusive if a part of the page did not answer. */
export const admittingSilence = (check: Check): Check => ({
  ...check,
  async read(input, signal, lookup) {
    try {
      return await check.read(input, signal, lookup);
    } catch (error) {
      if (error instanceof SilentFrames) return inconclusive(check.description, error.message);
      throw error;
    }
  },
});

/**
 * Finds the matches of a target. Throws {@link SilentFrames} if a missing match may be in a frame that did not answer,
 * INVALID_PARAMS unless exactly one of ref and selector is given, INVALID_SELECTOR.
 */
export async function lookUp(
  session: CheckSession,
  target: Target,
  signal: AbortSignal,
  wanted: { attribute?: string; whole?: boolean; all?: boolean; states?: boolean; limit?: number } = {},
): Promise<Lookup> {
  const only = onlyTarget(target);
  const testIdAttribute = testIdAttributeOf(session);
  const parsed = "selector" in only ? pageGrammar.parse(only.selector) : undefined;
  const query: PageSelector = parsed
    ? forPage(parsed, testIdAttribute)
    : { kind: "ref", ref: target.ref ?? "" };
  const options: DescribeOptions = {
    limit: 6,
    selectors: false,
    testIdAttribute,
    ...wanted,
  };
  const inReach = "selector" in only || (await frameOfRef(session, only.ref, signal)) !== undefined;
  const { answers: found, silent } = inReach
    ? await findInAllFrames(session.page(), query, options, signal)
    : { answers: [], silent: 0 };
  const all = found.flatMap(({ answer }) => answer.first);
  const isSeen = all.some(({ visible }) => visible);
  if (silent > 0 && (wanted.all === true || !isSeen)) throw new SilentFrames(silent);
  return {
    target: "ref" in only ? only.ref : JSON.stringify(only.selector),
    count: countAll(found),
    first: all.find((one) => one.visible) ?? all[0],
    found,
    wanted: parsed && wantedText(parsed),
  };
}

/** Describes a lookup that did not find exactly one element. */
export function absent(lookup: Lookup): string {
  return lookup.count > 1 ? `${lookup.count} elements match; name one of them` : "nothing matches";
}

export async function nearestTo(
  session: CheckSession,
  lookup: Lookup,
  signal: AbortSignal,
): Promise<{ nearest?: readonly string[] }> {
  if (lookup.count > 1)
    return { nearest: lookup.found.flatMap(({ answer }) => answer.first.map(describe)).slice(0, 5) };
  if (lookup.count === 1 || lookup.wanted === undefined) return {};
  return { nearest: await nearestOnScreen(session.page(), lookup.wanted, signal) };
}

/** An element may go away before it is read. */
const READ_MS = 1_000;

/** Playwright's locator for the one match; undefined if there are none or several. */
export function foundOne({ count, found }: Lookup): Locator | undefined {
  const [only] = found;
  return count === 1 && only ? locatorIn(only.frame, only.answer.asked, only.answer.hidden > 0) : undefined;
}

export const readOptions = (signal: AbortSignal) => ({ timeout: READ_MS, signal });

/** The reading if there is not exactly one match. */
export async function notOne(
  session: CheckSession,
  lookup: Lookup,
  expected: string,
  signal: AbortSignal,
): Promise<Reading> {
  return {
    holds: false,
    expected,
    actual: absent(lookup),
    missing: lookup.count === 0 ? "absent" : "unclear",
    ...(await nearestTo(session, lookup, signal)),
  };
}

/** The latest of `all` (oldest first) that lacks nothing; else what the latest lacks. */
export async function latest<One>(
  all: readonly One[],
  lackOf: (one: One) => Promise<string | undefined>,
): Promise<{ hit?: One; last?: string }> {
  let last: string | undefined;
  for (const one of all.toReversed()) {
    const lack = await lackOf(one);
    if (lack === undefined) return { hit: one };
    last ??= lack;
  }
  return last === undefined ? {} : { last };
}
