import type { Frame, Locator } from "playwright-core";
import { z } from "zod";
import { type Check, defineCheck, type Reading } from "../../contract.ts";
import { ofSubject } from "../../elements/readings.ts";
import { type Target, targetShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { boxSchema } from "../acting/clickPlace.ts";
import type { CheckSession } from "../browser/session.ts";
import { askElement, askFrameElement, runApart } from "../page/askAgent.ts";
import { placeOfFrame } from "../page/elementsInFrames.ts";
import { foundOne, lookUp, notOne, readOptions, SilentFrames } from "./lookup.ts";

type Box = z.output<typeof boxSchema>;

/** By how many pixels an element is out of place; 0 or less if the relation holds. */
const relations: Readonly<Record<string, (one: Box, other: Box) => number>> = {
  left_of: (one, other) => one.x + one.width - other.x,
  right_of: (one, other) => other.x + other.width - one.x,
  above: (one, other) => one.y + one.height - other.y,
  below: (one, other) => other.y + other.height - one.y,
  inside: (one, other) =>
    Math.max(
      other.x - one.x,
      other.y - one.y,
      one.x + one.width - other.x - other.width,
      one.y + one.height - other.y - other.height,
    ),
  aligned_left: (one, other) => Math.abs(one.x - other.x),
  aligned_right: (one, other) => Math.abs(one.x + one.width - other.x - other.width),
  aligned_top: (one, other) => Math.abs(one.y - other.y),
  aligned_bottom: (one, other) => Math.abs(one.y + one.height - other.y - other.height),
  centered_across: (one, other) => Math.abs(one.x + one.width / 2 - other.x - other.width / 2),
  centered_down: (one, other) => Math.abs(one.y + one.height / 2 - other.y - other.height / 2),
};

const places = z.enum(["in_window", "not_covered", ...Object.keys(relations)]);

/** Where an element is in the window, or relative to another one. */
export function layoutCheck(session: CheckSession): Check {
  return defineCheck({
    name: "layout",
    description:
      "Where an element lies: in the window, not covered, or left of, above, inside, aligned with another one",
    input: z.strictObject({
      ...targetShape,
      is: places,
      of_ref: targetShape.ref.describe("ref of the other element"),
      of_selector: targetShape.selector.describe("selector of the other element"),
      part: z.number().gt(0).max(1).default(1).describe("Of the element that must be in the window."),
      tolerance: z.number().min(0).max(1_000).default(1).describe("Pixels."),
    }),
    judges: ofSubject,
    title: (element, { is }) => `${element} is ${String(is).replaceAll("_", " ")}`,
    async read({ is, of_ref, of_selector, part, tolerance, ...target }, signal) {
      const other = { ref: of_ref, selector: of_selector };
      const relation = relations[is];
      if (relation) return compared(session, { target, other, is, relation, tolerance }, signal);
      if (of_ref !== undefined || of_selector !== undefined) throw needless(is);
      const lookup = await lookUp(session, target, signal);
      const expected = `${lookup.target} is ${is.replaceAll("_", " ")}${part < 1 ? `, ${percent(part)} of it` : ""}`;
      const locator = foundOne(lookup);
      const frame = lookup.found[0]?.frame;
      if (!locator || !frame) return notOne(session, lookup, expected, signal);
      return is === "in_window"
        ? { expected, ...(await inWindow(locator, part, signal)) }
        : { expected, ...(await notCovered(locator, frame, signal)) };
    },
  });
}

const needless = (is: string) =>
  new DeviceError("INVALID_PARAMS", `${is} needs no other element. Leave of_ref and of_selector out.`);

const percent = (part: number): string => `${Math.round(part * 100)} %`;

type Comparison = {
  target: Target;
  other: Target;
  is: string;
  relation: (one: Box, other: Box) => number;
  tolerance: number;
};

async function compared(
  session: CheckSession,
  { target, other, is, relation, tolerance }: Comparison,
  signal: AbortSignal,
): Promise<Reading> {
  const [one, two] = await Promise.all([lookUp(session, target, signal), lookUp(session, other, signal)]);
  const expected = `${one.target} is ${is.replaceAll("_", " ")} ${two.target}`;
  const [box, otherBox] = await Promise.all(
    [one, two].map((lookup) => foundOne(lookup)?.boundingBox(readOptions(signal))),
  );
  if (!box) return lost(session, one, expected, signal, box === null);
  if (!otherBox) return lost(session, two, expected, signal, otherBox === null);
  const missed = relation(box, otherBox);
  const places = `${one.target} is at ${rectText(box)}, ${two.target} at ${rectText(otherBox)}`;
  const actual = missed <= tolerance ? places : `${Math.round(missed)} pixels amiss: ${places}`;
  return { holds: missed <= tolerance, expected, actual };
}

async function lost(
  session: CheckSession,
  lookup: Awaited<ReturnType<typeof lookUp>>,
  expected: string,
  signal: AbortSignal,
  isHidden: boolean,
): Promise<Reading> {
  if (isHidden) return { holds: false, expected, actual: `${lookup.target} is hidden`, missing: "unclear" };
  return notOne(session, lookup, expected, signal);
}

const rectText = ({ x, y, width, height }: Box): string =>
  `${Math.round(x)},${Math.round(y)} ${Math.round(width)}x${Math.round(height)}`;

type Judged = Pick<Reading, "holds" | "actual">;

async function inWindow(locator: Locator, part: number, signal: AbortSignal): Promise<Judged> {
  const seen = await locator.evaluate(shareInWindow, undefined, readOptions(signal));
  if (typeof seen !== "number") throw new SilentFrames(1);
  return { holds: seen >= part - 0.005, actual: `${percent(seen)} of it is in the window` };
}

/** Within its own frame, and in each frame around that. */
async function notCovered(locator: Locator, own: Frame, signal: AbortSignal): Promise<Judged> {
  const box = await runApart(locator, boxSchema, boxInFrame, undefined, readOptions(signal));
  const cover =
    (await askElement(locator, "coverOf", [null], readOptions(signal))) ||
    (await coverAround(own, box, signal));
  return cover === "" ? { holds: true, actual: "nothing covers it" } : { holds: false, actual: cover };
}

/** What covers a part of a frame, as {@link InpageAgent.coverOf} says it; `box` is in the frame's own view. */
async function coverAround(frame: Frame, box: Box, signal: AbortSignal): Promise<string> {
  const parent = frame.parentFrame();
  if (parent === null) return "";
  const place = await placeOfFrame(frame, signal);
  if (place === undefined) throw new SilentFrames(1);
  const outer = { ...box, x: box.x + place.x, y: box.y + place.y };
  const cover = await askFrameElement(frame, "coverOf", [outer]);
  if (cover === undefined) throw new SilentFrames(1);
  return cover || coverAround(parent, outer, signal);
}

// What follows runs in the page.

function boxInFrame(element: Element): Box {
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x, y, width, height };
}

/** The share of an element that no edge of the window or of a scrolling area cuts off. */
function shareInWindow(element: Element): Promise<number> {
  return new Promise((resolve) => {
    const observer = new IntersectionObserver(([entry]) => {
      observer.disconnect();
      resolve(entry?.intersectionRatio ?? 0);
    });
    observer.observe(element);
  });
}
