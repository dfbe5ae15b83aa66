import type { Frame, Locator, Page } from "playwright-core";
import { nearestOf } from "../../elements/nearest.ts";
import { testPattern } from "../../elements/patterns.ts";
import { shortened } from "../../elements/quoted.ts";
import type { Candidate } from "../../elements/ranking.ts";
import { writeSelector } from "../../elements/selectors.ts";
import { atMost, untilAborted } from "../../waiting/deadlines.ts";
import type { DescribeOptions } from "./agent/agent.ts";
import type { FramePlace, Matches } from "./agent/answers.ts";
import { askAgent, askFrameElement } from "./askAgent.ts";
import { engineSelector } from "./inpage.ts";
import {
  type AskedSelector,
  type PageSelector,
  pageGrammar,
  parseForPage,
  takePattern,
} from "./selectors.ts";

/** Further frames of a page are not read. */
export const MAX_FRAMES = 30;

// A frame that does not answer must not hold up the others.
const FRAME_ANSWER_MS = 3_000;
const FRAME_PLACE_MS = 1_000;

export type FrameAnswer<T> = { frame: Frame; answer: T };

/** `silent`: how many frames gave no answer, or are beyond {@link MAX_FRAMES}. */
export type FrameAnswers<T> = { answers: FrameAnswer<T>[]; silent: number };

/** Asks all frames at once. Child frames that fail are left out; a failure of the page's own frame is thrown. */
export async function askFrames<T>(
  page: Page,
  signal: AbortSignal,
  ask: (frame: Frame) => Promise<T | undefined>,
): Promise<FrameAnswer<T>[]> {
  return (await askAllFrames(page, signal, ask)).answers;
}

/** The same, with the number of frames that did not answer. */
export async function askAllFrames<T>(
  page: Page,
  signal: AbortSignal,
  ask: (frame: Frame) => Promise<T | undefined>,
): Promise<FrameAnswers<T>> {
  const all = page.frames();
  const frames = all.slice(0, MAX_FRAMES);
  const answers = await Promise.all(
    frames.map(async (frame) => ({ frame, answer: await askFrame(frame, signal, ask, FRAME_ANSWER_MS) })),
  );
  const given = answers.flatMap(({ frame, answer }) => (answer === undefined ? [] : [{ frame, answer }]));
  const silent = answers.filter(({ frame, answer }) => answer === undefined && !frame.isDetached()).length;
  return { answers: given, silent: silent + all.length - frames.length };
}

/** Undefined if the frame went away or its document was replaced, or a child frame did not answer within `timeoutMs`. */
export async function askFrame<T>(
  frame: Frame,
  signal: AbortSignal,
  ask: (frame: Frame) => Promise<T | undefined>,
  timeoutMs: number,
): Promise<T | undefined> {
  signal.throwIfAborted();
  const isChild = frame.parentFrame() !== null;
  const ends = isChild ? atMost(signal, timeoutMs) : signal;
  try {
    return await untilAborted(ask(frame), ends);
  } catch (error) {
    signal.throwIfAborted();
    if (isChild || isMovingOn(error)) return undefined;
    throw error;
  }
}

/** The document was replaced while it was asked. */
function isMovingOn(error: unknown): boolean {
  return (
    error instanceof Error &&
    /context was destroyed|frame was detached|navigating and changing|target navigated/i.test(error.message)
  );
}

let patterns = 0;

/**
 * How each frame is asked for a selector. A pattern is compared here, where a slow one holds no page: this takes a question to each
 * frame. Returns undefined for a frame that gave no answer. Throws INVALID_PARAMS for a slow pattern.
 */
export async function askedIn(
  page: Page,
  selector: PageSelector,
  signal: AbortSignal,
): Promise<(frame: Frame) => AskedSelector | undefined> {
  const taken = takePattern(selector);
  if (!("pattern" in taken)) return () => taken;
  const { pattern, withText } = taken;
  const token = ++patterns;
  const query = withText({ match: "tried", token });
  const { answers } = await askAllFrames(page, signal, (frame) => askAgent(frame, "textsOf", [query, token]));
  const texts = [...new Set(answers.flatMap(({ answer }) => answer))];
  const isHit = await testPattern(pattern, texts);
  const hitTexts = new Set(texts.filter((_, at) => isHit[at]));
  const asked = answers.map(({ frame, answer }) => {
    const hits = [...answer.keys()].filter((at) => hitTexts.has(answer[at] ?? ""));
    return [frame, withText({ match: "tried", token, hits })] as const;
  });
  const byFrame = new Map(asked);
  return (frame) => byFrame.get(frame);
}

/** Playwright's locator for a selector in one frame; `onlyVisible` skips hidden matches. */
export function locatorIn(frame: Frame, selector: AskedSelector, onlyVisible: boolean): Locator {
  if (selector.kind !== "css" && selector.kind !== "xpath") return frame.locator(engineSelector(selector));
  const locator = frame.locator(selector.kind === "css" ? `css=${selector.css}` : `xpath=${selector.xpath}`);
  return onlyVisible ? locator.filter({ visible: true }) : locator;
}

type FrameOptions = DescribeOptions | ((frame: Frame) => DescribeOptions);

const optionsIn = (frame: Frame, options: FrameOptions): DescribeOptions =>
  typeof options === "function" ? options(frame) : options;

/** Matches, and how the frame was asked for them. */
export type Found = Matches & { asked: AskedSelector };

/**
 * Matches of a selector in every frame, in the order of frames. Throws INVALID_SELECTOR for bad CSS or XPath, INVALID_PARAMS for a
 * slow pattern.
 */
export async function findInFrames(
  page: Page,
  selector: PageSelector,
  options: FrameOptions,
  signal: AbortSignal,
): Promise<FrameAnswer<Found>[]> {
  return (await findInAllFrames(page, selector, options, signal)).answers;
}

/** The same, with how many frames did not say whether they have matches. */
export async function findInAllFrames(
  page: Page,
  selector: PageSelector,
  options: FrameOptions,
  signal: AbortSignal,
): Promise<FrameAnswers<Found>> {
  const asked = await askedIn(page, selector, signal);
  try {
    const isAlone = page.frames().length === 1;
    const { answers, silent } = await askAllFrames(page, signal, (frame) =>
      findInFrame(frame, asked(frame), { ...optionsIn(frame, options), isAlone }),
    );
    const matching = answers.filter(({ answer }) => answer.count > 0);
    const found = visibleFirst(await asSeen(matching, signal));
    // Matches in exactly the wanted case win over those in other frames.
    const cased = found.filter(({ answer }) => answer.isCased);
    return { answers: cased.length > 0 ? cased : found, silent };
  } catch (error) {
    if (error instanceof Error && isBadSyntax(error.message)) {
      const written =
        selector.kind === "xpath" ? selector.xpath : selector.kind === "css" ? selector.css : selector.kind;
      throw pageGrammar.invalid(written, firstLine(error.message), positionIn(written, error.message));
    }
    throw error;
  }
}

/** The contents of a hidden frame are hidden too. */
async function asSeen(
  found: readonly FrameAnswer<Found>[],
  signal: AbortSignal,
): Promise<FrameAnswer<Found>[]> {
  return Promise.all(
    found.map(async ({ frame, answer }) => {
      const isSeen = !answer.first.some(({ visible }) => visible) || (await isFrameSeen(frame, signal));
      const first = isSeen ? answer.first : answer.first.map((one) => ({ ...one, visible: false }));
      return { frame, answer: { ...answer, first } };
    }),
  );
}

/** Leaves out invisible matches if there are visible ones, as in one frame. */
function visibleFirst(found: FrameAnswer<Found>[]): FrameAnswer<Found>[] {
  const visible = found.filter(({ answer }) => answer.first.some((one) => one.visible));
  return visible.length > 0 ? visible : found;
}

/** A user can see the frame's element, and those of the frames around it. */
export async function isFrameSeen(frame: Frame, signal: AbortSignal): Promise<boolean> {
  const parent = frame.parentFrame();
  if (!parent) return true;
  const place = await placeOfFrame(frame, signal);
  return place?.seen === true && (await isFrameSeen(parent, signal));
}

/** Where the frame is in its parent; undefined if the parent gives no answer. */
export const placeOfFrame = (frame: Frame, signal: AbortSignal): Promise<FramePlace | undefined> =>
  askFrame(frame, signal, (child) => askFrameElement(child, "framePlace", []), FRAME_PLACE_MS);

let gatherings = 0;

async function findInFrame(
  frame: Frame,
  asked: AskedSelector | undefined,
  options: DescribeOptions,
): Promise<Found | undefined> {
  if (asked === undefined) return undefined;
  if (asked.kind !== "css" && asked.kind !== "xpath")
    return { ...(await askAgent(frame, "find", [asked, options])), asked };
  const token = ++gatherings;
  await locatorIn(frame, asked, false)
    .locator(engineSelector({ kind: "gather", token }))
    .count();
  return { ...(await askAgent(frame, "describeGathered", [token, options])), asked };
}

function isBadSyntax(message: string): boolean {
  return /not a valid (selector|XPath)|Unexpected token|Unknown engine|while parsing|Malformed|Failed to execute '(querySelector|evaluate)/i.test(
    message,
  );
}

/** The position of the token that Playwright's parser names; of several, the last, since it reads from the left. */
function positionIn(selector: string, message: string): number | undefined {
  const token = /Unexpected token "([^"]+)"|Unknown engine "([^"]+)"|Error: "([^"]+)"/.exec(message);
  const at = selector.lastIndexOf(token?.[1] ?? token?.[2] ?? token?.[3] ?? "\0");
  return at < 0 ? undefined : at;
}

function firstLine(message: string): string {
  return shortened((message.split("\n")[0] ?? "").replace(/^.*?Error: /, ""), 200);
}

/** Selectors of up to five elements on the screen with names similar to `wanted`, best first. */
export async function nearestOnScreen(page: Page, wanted: string, signal: AbortSignal): Promise<string[]> {
  const answers = await askFrames(page, signal, (frame) => askAgent(frame, "onScreen", [400]));
  const things = answers.flatMap(({ answer }) => answer);
  return nearestOf(wanted, things, { text: ({ name }) => name }).map(({ role, name }) =>
    writeSelector("role", name, role),
  );
}

/** Candidates of one element; `key` is unique to the element. */
export type AskedElement = { frame: Frame; key: string; candidates: readonly Candidate[] };

/**
 * How often a candidate matches in other frames than its element's: a selector names no frame, so a match in any frame makes it
 * ambiguous. Asks nothing if the page has one frame.
 */
export async function countElsewhere(
  page: Page,
  testIdAttribute: string,
  elements: readonly AskedElement[],
  signal: AbortSignal,
): Promise<(key: string, candidate: Candidate) => number> {
  const counts = new Map<string, number>();
  const known = (key: string, candidate: Candidate) => counts.get(`${key} ${written(candidate)}`) ?? 0;
  if (page.frames().length < 2) return known;
  const asked = elements.flatMap((element) => toQuestions(element, testIdAttribute));
  await askFrames(page, signal, async (frame) => {
    const others = asked.filter((one) => one.frame !== frame);
    const found = await askAgent(frame, "counts", [others.map(({ query }) => query)]);
    for (const [at, { id }] of others.entries()) counts.set(id, (counts.get(id) ?? 0) + (found[at] ?? 0));
    return found;
  });
  return known;
}

type Question = { frame: Frame; id: string; query: AskedSelector };

function toQuestions({ frame, key, candidates }: AskedElement, testIdAttribute: string): Question[] {
  return candidates.flatMap((candidate) => {
    const selector = written(candidate);
    const query = takePattern(parseForPage(selector, testIdAttribute));
    return !("pattern" in query) ? [{ frame, id: `${key} ${selector}`, query }] : [];
  });
}

const written = ({ kind, value, role }: Candidate) => writeSelector(kind, value, role);
