import { z } from "zod";
import { type Check, defineCheck } from "../../contract.ts";
import { inconclusive, ofSubject } from "../../elements/readings.ts";
import type { CheckSession } from "../browser/session.ts";
import { runApart } from "../page/askAgent.ts";
import { askFrame } from "../page/elementsInFrames.ts";
import { readOptions, SilentFrames } from "./lookup.ts";

/** A shift belongs to a burst if it follows within a second and the burst lasts at most five: https://web.dev/articles/cls. */
const BURST_GAP_MS = 1_000;
const LONGEST_BURST_MS = 5_000;
/** A browser keeps no quicker events for an observer that comes later: https://w3c.github.io/event-timing. */
const KEPT_EVENT_MS = 104;
/** Of so many interactions, one slow one is left out: https://web.dev/articles/inp. */
const INTERACTIONS_PER_OUTLIER = 50;
const ANSWER_MS = 1_000;

const time = z.number().nonnegative();
const timings = z.object({
  /** Undefined lists are of entries that the browser does not report. */
  paints: z.array(z.looseObject({ startTime: time, url: z.string().default("") })).optional(),
  shifts: z
    .array(z.looseObject({ startTime: time, value: z.number(), hadRecentInput: z.boolean() }))
    .optional(),
  events: z.array(z.looseObject({ duration: time, interactionId: z.number().default(0) })).optional(),
  /** How many interactions there were; absent where the browser does not count them. */
  interactions: z.number().optional(),
  /** When the page began to be shown, after the start of its navigation: later than 0 if it was prerendered. */
  activationStart: time.default(0),
});
export type Timings = z.output<typeof timings>;

/** A value as it was measured; `atMost`: it is this or less. `unknown` says why there is none. */
type Measured = { value: number; atMost?: boolean } | { unknown: string };
type Vital = {
  param: "max_lcp_ms" | "max_cls" | "max_inp_ms";
  name: string;
  unit: string;
  measure(timings: Timings): Measured;
};

const vitals: readonly Vital[] = [
  { param: "max_lcp_ms", name: "LCP", unit: " ms", measure: largestPaint },
  { param: "max_cls", name: "CLS", unit: "", measure: layoutShift },
  { param: "max_inp_ms", name: "INP", unit: " ms", measure: interactionDelay },
];

const ms = z.number().gt(0).max(600_000).optional();

/** The web vitals of the current document so far, as the browser has measured them. */
export function pageVitals(session: CheckSession): Check {
  return defineCheck({
    name: "page_vitals",
    description:
      "The page's web vitals since it was loaded are at most: largest contentful paint, cumulative layout shift, interaction to next paint",
    input: z
      .strictObject({
        max_lcp_ms: ms.describe("2500 is good."),
        max_cls: z.number().min(0).max(100).optional().describe("0.1 is good."),
        max_inp_ms: ms.describe("200 is good. Needs an interaction before."),
      })
      .refine(
        (given) => Object.values(given).some((one) => one !== undefined),
        "Give at least one of max_lcp_ms, max_cls and max_inp_ms.",
      ),
    judges: ofSubject,
    title: (_, input) => {
      const named = vitals.filter(({ param }) => input[param] !== undefined);
      return `${named.map(({ name, param, unit }) => `${name} is at most ${String(input[param])}${unit}`).join(", ")}`;
    },
    async read(limits, signal) {
      const read = await askFrame(
        session.page().mainFrame(),
        signal,
        (frame) => runApart(frame.locator(":root"), timings, readTimings, undefined, readOptions(signal)),
        ANSWER_MS,
      );
      if (read === undefined) throw new SilentFrames(1);
      const judged = vitals.flatMap((vital) => {
        const limit = limits[vital.param];
        return limit === undefined ? [] : [judge(vital, vital.measure(read), limit)];
      });
      const expected = judged.map((one) => one.expected).join(", ");
      const actual = judged.map((one) => one.actual).join(", ");
      const isBroken = judged.some(({ holds }) => holds === false);
      const isUnknown = judged.some(({ holds }) => holds === undefined);
      if (!isBroken && isUnknown) return inconclusive(expected, actual);
      return { holds: !isBroken, expected, actual };
    },
  });
}

function judge({ name, unit }: Vital, measured: Measured, limit: number) {
  const expected = `${name} at most ${limit}${unit}`;
  if ("unknown" in measured) return { expected, actual: `${name} unknown: ${measured.unknown}` };
  const { value, atMost = false } = measured;
  const actual = `${name} ${Math.round(value * 1_000) / 1_000}${unit}${atMost ? " or less" : ""}`;
  // Less than the bound may be anything.
  const holds = value <= limit ? true : atMost ? undefined : false;
  return { expected, actual, holds };
}

const notReported = { unknown: "this browser does not report it" };

/** When the largest text or picture was painted, in milliseconds since the page began to be shown. */
export function largestPaint({ paints, activationStart }: Timings): Measured {
  if (paints === undefined) return notReported;
  const last = paints.at(-1);
  if (last === undefined)
    return { unknown: "nothing has been painted yet, or the tab was in the background" };
  return { value: Math.max(0, Math.round(last.startTime - activationStart)) };
}

/** The largest sum of a burst of shifts that no input caused. */
export function layoutShift({ shifts }: Timings): Measured {
  if (shifts === undefined) return notReported;
  let [worst, sum, first, last] = [0, 0, 0, Number.NEGATIVE_INFINITY];
  for (const { startTime, value, hadRecentInput } of shifts) {
    if (hadRecentInput) continue;
    const isSame = startTime - last < BURST_GAP_MS && startTime - first < LONGEST_BURST_MS;
    if (!isSame) [sum, first] = [0, startTime];
    [sum, last] = [sum + value, startTime];
    worst = Math.max(worst, sum);
  }
  return { value: worst };
}

/** The delay of the slowest interaction, without one outlier in each 50. */
export function interactionDelay({ events, interactions }: Timings): Measured {
  if (events === undefined) return notReported;
  const slowest = new Map<number, number>();
  for (const { interactionId, duration } of events)
    if (interactionId > 0) slowest.set(interactionId, Math.max(duration, slowest.get(interactionId) ?? 0));
  const count = Math.max(interactions ?? 0, slowest.size);
  if (count === 0 && interactions !== undefined) return { unknown: "there was no interaction yet" };
  if (count === 0) return { unknown: `no interaction took ${KEPT_EVENT_MS} ms, or there was none` };
  const delays = [...slowest.values()].sort((a, b) => b - a);
  const delay = delays[Math.floor(count / INTERACTIONS_PER_OUTLIER)];
  return delay === undefined ? { value: KEPT_EVENT_MS, atMost: true } : { value: delay };
}

// What follows runs in the page.

function readTimings(): z.input<typeof timings> {
  const most = 2_000;
  const read = (type: string) => {
    if (!PerformanceObserver.supportedEntryTypes.includes(type)) return undefined;
    const observer = new PerformanceObserver(() => undefined);
    observer.observe({ type, buffered: true });
    const entries = observer.takeRecords();
    observer.disconnect();
    return entries.slice(-most).map((entry) => entry.toJSON());
  };
  const [navigation] = performance.getEntriesByType("navigation");
  const activationStart: unknown = navigation && Reflect.get(navigation, "activationStart");
  const interactions: unknown = Reflect.get(performance, "interactionCount");
  return {
    paints: read("largest-contentful-paint"),
    shifts: read("layout-shift"),
    events: read("event"),
    ...(typeof interactions === "number" && { interactions }),
    ...(typeof activationStart === "number" && { activationStart }),
  };
}
