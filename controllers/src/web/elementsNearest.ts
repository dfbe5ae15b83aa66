import type { Page } from "playwright-core";
import { askFrames } from "./elementsInFrames.ts";
import { formatCandidate } from "./selectors.ts";

/** Up to five things on the screen whose name is most like `wanted`, as selectors, best first; empty when nothing is alike. */
export async function nearestOnScreen(page: Page, wanted: string, signal: AbortSignal): Promise<string[]> {
  const answers = await askFrames(page, signal, (frame) =>
    frame.evaluate(() => globalThis.__labwright?.onScreen(400)),
  );
  const names = answers.flatMap(({ answer }) => answer);
  const written = names.map(({ role, name }) => ({
    name,
    selector: formatCandidate({ kind: "role", role, value: name, count: 1, score: 1 }),
  }));
  return nearest(wanted, written, (one) => one.name).map((one) => one.selector);
}

/** The up to five things whose text is most like `wanted`, best first, each text once. */
export function nearest<T>(wanted: string, things: readonly T[], text: (thing: T) => string): T[] {
  const seen = new Set<string>();
  return things
    .map((thing) => ({ thing, key: text(thing), score: likeness(wanted, text(thing)) }))
    .filter(({ score }) => score > 0.3)
    .sort((a, b) => b.score - a.score)
    .filter(({ key }) => !seen.has(key) && seen.add(key))
    .slice(0, 5)
    .map(({ thing }) => thing);
}

/** 0..1: the share of letter pairs that two texts have in common (Dice), and more when one holds the other. */
function likeness(a: string, b: string): number {
  const left = fold(a);
  const right = fold(b);
  if (left === "" || right === "") return 0;
  if (left === right) return 1;
  const pairsLeft = pairs(left);
  const pairsRight = pairs(right);
  const rest = [...pairsRight];
  let common = 0;
  for (const pair of pairsLeft) {
    const at = rest.indexOf(pair);
    if (at < 0) continue;
    rest.splice(at, 1);
    common++;
  }
  const dice = (2 * common) / Math.max(1, pairsLeft.length + pairsRight.length);
  const holds = left.length > 2 && right.length > 2 && (left.includes(right) || right.includes(left));
  return holds ? Math.max(dice, 0.6) : dice;
}

function fold(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim().slice(0, 120);
}

function pairs(text: string): string[] {
  return Array.from({ length: Math.max(1, text.length - 1) }, (_, at) => text.slice(at, at + 2));
}
