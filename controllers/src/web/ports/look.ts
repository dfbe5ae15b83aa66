import type { Frame, Page } from "playwright-core";
import type { Dump, Element, ElementSource, Selector, Space, TextNews } from "../../contract.ts";
import { shortened } from "../../elements/quoted.ts";
import { byWorth, type Candidate, toSelector } from "../../elements/ranking.ts";
import { ANSWER_DEADLINE_MS, ask } from "../acting/question.ts";
import { type ElementsMemory, testIdAttributeOf, type WebSession } from "../browser/session.ts";
import type { FramePlace, SeenElement, SeenPage } from "../page/agent/answers.ts";
import type { SnapshotOptions } from "../page/agent/snapshot/walk.ts";
import { askAgent, expectOwnRefs } from "../page/askAgent.ts";
import {
  askFrames,
  countElsewhere,
  type FrameAnswer,
  MAX_FRAMES,
  placeOfFrame,
} from "../page/elementsInFrames.ts";
import { installInpage } from "../page/inpage.ts";

/** More elements than this are not listed; a notice says so. */
const MAX_ELEMENTS = 4_000;
/** The page's own script is held up no longer than this by one snapshot. */
const LOOK_BUDGET_MS = 3_000;

type LookSession = Pick<
  WebSession,
  "context" | "memory" | "page" | "onNewContext" | "isAlive" | "strangeness" | "doubt"
>;

/**
 * Looks at the current tab, child frames and shadow roots included. One question to each frame, and one more when there are
 * child frames. A ref names one element of the device for as long as it lives, over any number of looks.
 */
export function createLook(session: LookSession): ElementSource {
  session.onNewContext(installInpage);
  const memory = session.memory;
  return {
    dump: (options, signal) =>
      ask(
        session,
        { what: "the snapshot of the screen", ms: ANSWER_DEADLINE_MS, signal, isOfApp: true },
        (limited) => dump(session, memory, options.interactiveOnly, limited),
      ),
    selectors: (refs, signal) =>
      ask(session, { what: "ranking selectors", ms: ANSWER_DEADLINE_MS, signal }, (limited) =>
        selectors(session, memory, refs, limited),
      ),
  };
}

async function dump(
  session: LookSession,
  memory: ElementsMemory,
  interactiveOnly: boolean,
  signal: AbortSignal,
): Promise<Dump> {
  const page = session.page();
  const frames = page.frames().length;
  const testIdAttribute = testIdAttributeOf(session);
  const snapshots = await askFrames(page, signal, async (frame) => {
    const options = { ...optionsFor(memory, frame), interactiveOnly, testIdAttribute };
    const seen = await askAgent(frame, "snapshot", [options]);
    const { elements, first, texts, next } = seen;
    expectOwnRefs([...elements, ...first, ...texts.changed.map((one) => one.seen)], options.prefix, next);
    return seen;
  });
  for (const { frame, answer } of snapshots) memory.refs.numbered(memory.prefix(frame), answer.next);
  const places = snapshots.length > 1 ? await framePlaces(snapshots, signal) : [];
  const top = snapshots.find(({ frame }) => frame === page.mainFrame());
  const elements = top ? assemble(top, snapshots, places, { x: 0, y: 0, depth: 0 }) : [];
  const unread = snapshots.flatMap(({ answer }) => answer.unread);
  const texts = textsOf(snapshots.filter(({ frame }) => isSeen(frame, places)));
  return {
    generation: memory.refs.look([
      ...elements,
      ...texts.changed.map(({ element }) => element),
      ...texts.first,
    ]),
    location: location(top?.answer.url ?? page.url()),
    title: top?.answer.title ?? "",
    space: spaceOf(page, top?.answer),
    elements,
    texts,
    ...(unread.length > 0 && { unread }),
    notices: shortcomings(snapshots, frames),
  };
}

/** The page itself, and frames that can be seen in it. */
function isSeen(frame: Frame, places: readonly Placed[]): boolean {
  const parent = frame.parentFrame();
  if (!parent) return true;
  return places.some((one) => one.frame === frame && one.place.seen) && isSeen(parent, places);
}

const nowhere: Origin = { x: 0, y: 0, depth: 0 };

function textsOf(snapshots: readonly FrameAnswer<SeenPage>[]): TextNews {
  const all = snapshots.map(({ answer }) => answer);
  return {
    changed: all.flatMap(({ texts }) =>
      texts.changed.map(({ seen, was }) => ({ element: place(seen, nowhere), was })),
    ),
    more: all.reduce((sum, { texts }) => sum + texts.more, 0),
    gone: all.flatMap(({ texts }) => texts.gone),
    passed: all.flatMap(({ texts }) => texts.passed),
    first: all.flatMap(({ first }) => first.map((seen) => place(seen, nowhere))),
  };
}

/** A page that did not answer has the size that it was given. */
function spaceOf(page: Page, seen: SeenPage | undefined): Space {
  const { width, height } = seen ?? page.viewportSize() ?? { width: 0, height: 0 };
  return { width, height, rotation: 0 };
}

function optionsFor(
  memory: ElementsMemory,
  frame: Frame,
): Omit<SnapshotOptions, "interactiveOnly" | "testIdAttribute"> {
  const prefix = memory.prefix(frame);
  return {
    prefix,
    next: memory.refs.nextNumber(prefix),
    maxElements: MAX_ELEMENTS,
    budgetMs: LOOK_BUDGET_MS,
  };
}

type Placed = { frame: Frame; parent: Frame; place: FramePlace };

async function framePlaces(
  snapshots: readonly FrameAnswer<SeenPage>[],
  signal: AbortSignal,
): Promise<Placed[]> {
  const children = snapshots.flatMap(({ frame }) => {
    const parent = frame.parentFrame();
    return parent ? [{ frame, parent }] : [];
  });
  const placed = await Promise.all(
    children.map(async ({ frame, parent }) => {
      const place = await placeOfFrame(frame, signal);
      return place ? [{ frame, parent, place }] : [];
    }),
  );
  return placed.flat();
}

type Origin = { x: number; y: number; depth: number };

/** Puts what child frames hold after their `iframe` rows; an empty frame, or one that is not seen, gets no row. */
function assemble(
  look: FrameAnswer<SeenPage>,
  snapshots: readonly FrameAnswer<SeenPage>[],
  places: readonly Placed[],
  origin: Origin,
): Element[] {
  const below = places.filter(({ parent, place }) => parent === look.frame && place.seen);
  return look.answer.elements.flatMap((seen) => {
    const row = place(seen, origin);
    if (seen.role !== "iframe") return [row];
    const child = below.find((one) => one.place.ref === seen.ref);
    const inner = child && snapshots.find(({ frame }) => frame === child.frame);
    if (!child || !inner) return [];
    const rows = assemble(inner, snapshots, places, {
      x: origin.x + child.place.x,
      y: origin.y + child.place.y,
      depth: row.depth + 1,
    });
    return rows.length > 0 ? [row, ...rows] : [];
  });
}

function place(seen: SeenElement, origin: Origin): Element {
  const [x, y, width, height] = seen.box;
  const { box: _, ...rest } = seen;
  return {
    ...rest,
    depth: seen.depth + origin.depth,
    rect: { x: Math.round(x + origin.x), y: Math.round(y + origin.y), width, height },
  };
}

function location(url: string): string {
  return url.startsWith("data:") ? "data:…" : shortened(url, 2_000);
}

function shortcomings(snapshots: readonly FrameAnswer<SeenPage>[], frames: number): string[] {
  const lines = snapshots
    .filter(({ answer }) => answer.cut)
    .map(
      ({ answer }) =>
        `The page is very large: ${answer.elements.length} elements listed, ${answer.read} of ${answer.total} nodes read`,
    );
  if (frames > MAX_FRAMES) lines.push(`Only the first ${MAX_FRAMES} of ${frames} frames were read`);
  const silent = Math.min(frames, MAX_FRAMES) - snapshots.length;
  if (silent > 0) lines.push(`${silent} of ${frames} frames did not answer and are left out`);
  return lines;
}

async function selectors(
  session: LookSession,
  memory: ElementsMemory,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<readonly (readonly Selector[])[]> {
  const page = session.page();
  const testIdAttribute = testIdAttributeOf(session);
  const ranked = await askFrames(page, signal, async (frame) => {
    const prefix = memory.prefix(frame);
    const own = refs.filter((ref) => (/^(f\d+)?/.exec(ref)?.[1] ?? "") === prefix);
    if (own.length === 0) return new Map<string, Candidate[]>();
    const lists = await askAgent(frame, "rank", [own, testIdAttribute]);
    return new Map(own.map((ref, at) => [ref, lists[at] ?? []]));
  });
  const asked = ranked.flatMap(({ frame, answer }) =>
    [...answer].map(([key, candidates]) => ({ frame, key, candidates })),
  );
  const elsewhere = await countElsewhere(page, testIdAttribute, asked, signal);
  return refs.map((ref) => {
    const candidates = ranked.flatMap(({ answer }) => answer.get(ref) ?? []);
    return candidates.map((candidate) => toSelector(candidate, elsewhere(ref, candidate))).sort(byWorth);
  });
}
