import type { Frame, Locator, Page } from "playwright-core";
import { atMost, untilAborted } from "../waiting/deadlines.ts";
import { engineSelector, ensureInpage } from "./inpage.ts";
import type { DescribeOptions, Matches } from "./inpageAgent.ts";
import type { PageQuery } from "./inpageQuery.ts";
import { type PageSelector, pageGrammar } from "./selectors.ts";

/** A page with more frames than this is read only so far. */
export const MAX_FRAMES = 30;

// A frame whose server never answers, or whose script is stuck, does not hold up the rest.
const FRAME_ANSWER_MS = 3_000;

export type FrameAnswer<T> = { frame: Frame; answer: T };

/** Asks every frame at once, the page's own first. Frames that cannot answer are left out; the page's own failure is thrown. */
export async function askFrames<T>(
  page: Page,
  signal: AbortSignal,
  ask: (frame: Frame) => Promise<T | undefined>,
): Promise<FrameAnswer<T>[]> {
  const frames = page.frames().slice(0, MAX_FRAMES);
  const answers = await Promise.all(
    frames.map(async (frame) => ({ frame, answer: await askFrame(frame, signal, ask, FRAME_ANSWER_MS) })),
  );
  return answers.flatMap(({ frame, answer }) => (answer === undefined ? [] : [{ frame, answer }]));
}

/** Undefined when the frame went away, moved on or did not answer within `timeoutMs`. The page's own frame has no such limit: whoever asks has a deadline. */
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
    return await untilAborted(askTwice(frame, ask), ends);
  } catch (error) {
    signal.throwIfAborted();
    if (isChild || isMovingOn(error)) return undefined;
    throw error;
  }
}

/** A document that began before our script did has no agent yet. */
async function askTwice<T>(
  frame: Frame,
  ask: (frame: Frame) => Promise<T | undefined>,
): Promise<T | undefined> {
  const answer = await ask(frame);
  if (answer !== undefined) return answer;
  await ensureInpage(frame);
  return ask(frame);
}

/** The document was replaced while it was asked: the next one will answer. */
function isMovingOn(error: unknown): boolean {
  return (
    error instanceof Error &&
    /context was destroyed|frame was detached|navigating and changing|target navigated/i.test(error.message)
  );
}

/** Playwright's locator for a selector in one frame; `onlyVisible` where hidden twins are to be passed over. */
export function locatorIn(frame: Frame, selector: PageSelector, onlyVisible: boolean): Locator {
  if (selector.kind !== "css" && selector.kind !== "xpath") return frame.locator(engineSelector(selector));
  const locator = frame.locator(selector.kind === "css" ? `css=${selector.css}` : `xpath=${selector.xpath}`);
  return onlyVisible ? locator.filter({ visible: true }) : locator;
}

/** Matches of a selector in every frame, in the order of frames. Throws INVALID_SELECTOR for bad CSS or XPath. */
export async function findInFrames(
  page: Page,
  selector: PageSelector,
  options: DescribeOptions,
  signal: AbortSignal,
): Promise<FrameAnswer<Matches>[]> {
  try {
    const how = { ...options, isAlone: page.frames().length === 1 };
    const answers = await askFrames(page, signal, (frame) => findInFrame(frame, selector, how));
    const found = answers.filter(({ answer }) => answer.count > 0);
    // Of several elements with one name, those in exactly the case that was asked for are meant, in whichever frame.
    const cased = found.filter(({ answer }) => answer.isCased);
    return cased.length > 0 ? cased : found;
  } catch (error) {
    if (error instanceof Error && isBadSyntax(error.message)) {
      const written =
        selector.kind === "xpath" ? selector.xpath : selector.kind === "css" ? selector.css : selector.kind;
      throw pageGrammar.invalid(written, firstLine(error.message), positionIn(written, error.message));
    }
    throw error;
  }
}

function findInFrame(
  frame: Frame,
  selector: PageSelector,
  options: DescribeOptions,
): Promise<Matches | undefined> {
  if (selector.kind === "css" || selector.kind === "xpath") {
    return locatorIn(frame, selector, false).evaluateAll(
      (elements, how) =>
        globalThis.__labwright?.describe(
          elements.filter((one) => one instanceof Element),
          how,
        ),
      options,
    );
  }
  const query: PageQuery = selector;
  return frame.evaluate(({ query, options }) => globalThis.__labwright?.find(query, options), {
    query,
    options,
  });
}

function isBadSyntax(message: string): boolean {
  return /not a valid (selector|XPath)|Unexpected token|Unknown engine|while parsing|Malformed|Failed to execute '(querySelector|evaluate)/i.test(
    message,
  );
}

/** Of the token that Playwright's parser names: the last one of its kind, since it reads from the left. */
function positionIn(selector: string, message: string): number | undefined {
  const token = /Unexpected token "([^"]+)"|Unknown engine "([^"]+)"|Error: "([^"]+)"/.exec(message);
  const at = selector.lastIndexOf(token?.[1] ?? token?.[2] ?? token?.[3] ?? "\0");
  return at < 0 ? undefined : at;
}

function firstLine(message: string): string {
  return (message.split("\n")[0] ?? "").replace(/^.*?Error: /, "").slice(0, 200);
}
