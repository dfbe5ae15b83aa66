import type { Frame, Page } from "playwright-core";
import type { Candidate } from "../../elements/ranking.ts";
import { writeSelector } from "../../elements/selectors.ts";
import { askAgent } from "./askAgent.ts";
import { askFrames } from "./elementsInFrames.ts";
import { type PageSelector, parseForPage } from "./selectors.ts";

/** Candidates of one element; `key` tells elements apart. */
export type AskedElement = { frame: Frame; key: string; candidates: readonly Candidate[] };

/**
 * How often a candidate also matches in frames other than its element's own: a selector names no frame, so a twin anywhere
 * makes it ambiguous. Asks nothing when the page has one frame.
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

type Question = { frame: Frame; id: string; query: PageSelector };

function toQuestions({ frame, key, candidates }: AskedElement, testIdAttribute: string): Question[] {
  return candidates.map((candidate) => {
    const selector = written(candidate);
    return { frame, id: `${key} ${selector}`, query: parseForPage(selector, testIdAttribute) };
  });
}

const written = ({ kind, value, role }: Candidate) => writeSelector(kind, value, role);
