import { type Element, nearest } from "@labwright/controllers";
import { type Scored, scoreElements } from "./find.ts";
import { commandFor, type Intent, isOfKind, missingWords, unfit } from "./intent.ts";
import { quote } from "./render.ts";

/** How far the scores of elements lie apart that are equally good. */
const tie = 3;
const mostLines = 4;
/** A thing of the kind that was asked for comes before one with a word more or less in its name. */
const kindWeight = 20;

/** An element that is what was asked for. `where` sets it apart from others that are equally good. */
export type Fit = { element: Element; command: string | undefined; where: string | undefined };
/** `tied` of the first in `fits` are equally good; the lines say why others are none, and what comes nearest. */
export type Ranked = { fits: Fit[]; tied: number; leftOut: string[]; nearest: string[] };

/** The elements that say every word of an intent and can be used so, best first. Some of the words are not enough. */
export function rankCandidates(
  elements: readonly Element[],
  intent: Intent,
  commands: ReadonlySet<string>,
): Ranked {
  const scored = scoreElements(elements, intent.words.join(" ")).map(({ element, score }) => ({
    element,
    score: score + (isOfKind(element, intent) ? kindWeight : 0),
    missing: missingWords(element, intent),
    unfit: unfit(element, intent),
  }));
  const fitting = scored
    .filter(({ missing, unfit }) => missing.length === 0 && unfit === undefined)
    .sort((a, b) => b.score - a.score);
  const tied = tiedOf(fitting);
  const others = scored.filter(({ missing, unfit }) => missing.length > 0 || unfit !== undefined);
  const leftOut = others.slice(0, mostLines).map(({ element, missing, unfit: why }) => {
    const reason = why ?? `does not say ${missing.map((word) => quote(word, 30)).join(", ")}`;
    return `${shortly(element)}: ${reason}`;
  });
  const places = placesOf(
    fitting.slice(0, tied).map(({ element }) => element),
    elements,
  );
  return {
    fits: fitting.map(({ element }, at) => ({
      element,
      command: commandFor(element, commands),
      where: places[at],
    })),
    tied: places.length,
    leftOut,
    nearest: fitting.length > 0 || leftOut.length > 0 ? [] : nearestOf(elements, intent),
  };
}

const shortly = ({ ref, role, name, text = "" }: Element) => `${ref} ${role} ${quote(name || text, 60)}`;

function tiedOf(fitting: readonly Scored[]): number {
  const best = fitting[0]?.score ?? 0;
  return fitting.filter(({ score }) => best - score < tie).length;
}

/** How several elements differ: the text before each, and the place on the screen where that is the same. */
function placesOf(tied: readonly Element[], elements: readonly Element[]): string[] {
  if (tied.length < 2) return [];
  const signs = tied.map((element) => signBefore(element, elements));
  return tied.map(({ rect }, at) => {
    const sign = signs[at] ?? "";
    const isAlone = sign !== "" && signs.filter((one) => one === sign).length === 1;
    const place = rect ? `at ${rect.x},${rect.y}` : `number ${at + 1}`;
    return isAlone ? sign : [sign, place].filter(Boolean).join(", ");
  });
}

function signBefore(element: Element, elements: readonly Element[]): string {
  const sign = elements
    .slice(0, elements.indexOf(element))
    .findLast((one) => !one.interactive && (one.name || one.text) && one.depth <= element.depth);
  return sign ? `after ${sign.role} ${quote(sign.name || (sign.text ?? ""), 60)}` : "";
}

/** Names that are spelled like the intent, where no element shares a word with it. */
function nearestOf(elements: readonly Element[], intent: Intent): string[] {
  const usable = elements.filter(({ interactive, name }) => interactive && name !== "");
  const names = nearest(
    intent.text,
    usable.map(({ name }) => name),
    mostLines,
  );
  return names.flatMap((name) => {
    const element = usable.find((one) => one.name === name);
    return element ? [shortly(element)] : [];
  });
}
