import { setTimeout as delay } from "node:timers/promises";
import type { Frame, Locator } from "playwright-core";
import { ambiguous, notFound } from "../../elements/failures.ts";
import { wantedText } from "../../elements/selectors.ts";
import { LOCATE_TIMEOUT_MS, onlyTarget, type Target } from "../../elements/target.ts";
import type { DeviceError } from "../../errors.ts";
import { testIdAttributeOf, type WebSession } from "../browser/session.ts";
import type { Description, Matches } from "../page/agent/answers.ts";
import type { PageQuery } from "../page/agent/query.ts";
import { askAgent, expectOwnRefs } from "../page/askAgent.ts";
import {
  askedIn,
  askFrame,
  type FrameAnswer,
  findInFrames,
  locatorIn,
  nearestOnScreen,
} from "../page/elementsInFrames.ts";
import { engineSelector } from "../page/inpage.ts";
import { forPage, type PageSelector, pageGrammar, parseForPage } from "../page/selectors.ts";

type Sight = Pick<WebSession, "context" | "memory" | "page">;

/**
 * Finds the one element of a target in all frames and shadow roots. Waits up to `timeoutMs` for a selector, not for a ref. Throws
 * INVALID_PARAMS unless exactly one of ref and selector is given, INVALID_SELECTOR, ELEMENT_NOT_FOUND with the nearest names and
 * how it was `searched`, ELEMENT_AMBIGUOUS with a ref for each candidate, STALE_REF.
 */
export async function locate(
  session: Sight,
  target: Target,
  signal: AbortSignal,
  timeoutMs = LOCATE_TIMEOUT_MS,
  searched?: string,
): Promise<Locator> {
  const only = onlyTarget(target);
  if ("ref" in only) return locateRef(session, only.ref, signal);
  return locateSelector(session, only.selector, signal, { timeoutMs, searched });
}

async function locateRef(session: Sight, ref: string, signal: AbortSignal): Promise<Locator> {
  const frame = await frameOfRef(session, ref, signal);
  const { refs } = session.memory;
  if (frame) return frame.locator(engineSelector({ kind: "ref", ref })).describe(refs.describe(ref));
  const name = refs.recall(ref)?.name;
  throw refs.gone(ref, name ? await nearestOnScreen(session.page(), name, signal) : []);
}

/**
 * The only frame in which a target can be: that of a ref, or the page itself if it has no other. Undefined if several are possible.
 * Throws INVALID_PARAMS for a slow pattern.
 */
export async function inOneFrame(
  session: Sight,
  target: Target,
  signal: AbortSignal,
): Promise<{ frame: Frame; query: PageQuery } | undefined> {
  const { ref, selector } = target;
  if (ref !== undefined) {
    const frame = selector === undefined ? givenIn(session, ref) : undefined;
    return frame && { frame, query: { kind: "ref", ref } };
  }
  const [only, ...others] = session.page().frames();
  if (selector === undefined || only === undefined || others.length > 0) return undefined;
  const parsed = parseForPage(selector, testIdAttributeOf(session));
  if (parsed.kind === "css" || parsed.kind === "xpath") return undefined;
  const query = (await askedIn(session.page(), parsed, signal))(only);
  return query === undefined || query.kind === "xpath" ? undefined : { frame: only, query };
}

function givenIn(session: Sight, ref: string): Frame | undefined {
  const prefix = /^(f\d+)?e\d+$/.exec(ref)?.[1] ?? "";
  const memory = session.memory;
  return session
    .page()
    .frames()
    .find((one) => memory.prefix(one) === prefix);
}

/** The frame of the ref's element; undefined if the element is gone. */
export async function frameOfRef(
  session: Sight,
  ref: string,
  signal: AbortSignal,
): Promise<Frame | undefined> {
  const frame = givenIn(session, ref);
  if (!frame) return undefined;
  const alive = await askFrame(frame, signal, (one) => askAgent(one, "isAlive", [ref]), 1_000);
  return alive ? frame : undefined;
}

async function locateSelector(
  session: Sight,
  selector: string,
  signal: AbortSignal,
  { timeoutMs, searched }: { timeoutMs: number; searched: string | undefined },
): Promise<Locator> {
  const testIdAttribute = testIdAttributeOf(session);
  const parsed = pageGrammar.parse(selector);
  const query = forPage(parsed, testIdAttribute);
  const started = performance.now();
  for (let attempt = 0; ; attempt++) {
    const found = await findInFrames(
      session.page(),
      query,
      { limit: 1, selectors: false, testIdAttribute },
      signal,
    );
    const total = countAll(found);
    const [only] = found;
    if (total === 1 && only)
      return locatorIn(only.frame, only.answer.asked, only.answer.hidden > 0).describe(selector);
    if (total > 1) throw await severalMatch(session, query, selector, signal);
    const left = timeoutMs - (performance.now() - started);
    if (left <= 0) {
      const nearest = await nearestOnScreen(session.page(), wantedText(parsed), signal);
      throw notFound(parsed, selector, { afterMs: timeoutMs, searched, nearest });
    }
    await delay(Math.min(left, attempt < 3 ? 30 : 100), undefined, { signal });
  }
}

export function countAll(found: readonly FrameAnswer<Matches>[]): number {
  return found.reduce((sum, { answer }) => sum + answer.count, 0);
}

async function severalMatch(
  session: Sight,
  query: PageSelector,
  selector: string,
  signal: AbortSignal,
): Promise<DeviceError> {
  const testIdAttribute = testIdAttributeOf(session);
  const memory = session.memory;
  const optionsOf = (frame: Frame) => {
    const prefix = memory.prefix(frame);
    const refs = { prefix, next: memory.refs.nextNumber(prefix) };
    return { limit: 6, selectors: false, testIdAttribute, refs };
  };
  const found = await findInFrames(session.page(), query, optionsOf, signal);
  for (const { frame, answer } of found) {
    const prefix = memory.prefix(frame);
    memory.refs.numbered(prefix, answer.next ?? 1);
    expectOwnRefs(answer.first, prefix, memory.refs.nextNumber(prefix));
  }
  const first = found.flatMap(({ answer }) => answer.first).slice(0, 6);
  return ambiguous(selector, countAll(found), first.map(candidate));
}

/** `e12 button "Delete" by "Bach"`, as in a snapshot. */
const candidate = (one: Description): string => [one.ref, describe(one), one.apart].filter(Boolean).join(" ");

const LONGEST_NAME = 120;
const cutName = (name: string): string =>
  name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)} … ${name.length - LONGEST_NAME} more` : name;

/** `button "Save"`. */
export function describe(one: Description): string {
  return `${one.role || "element"} ${JSON.stringify(cutName(one.name || one.text))}`;
}
