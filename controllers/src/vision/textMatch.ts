import { z } from "zod";
import { concealed } from "../elements/concealed.ts";
import { firstMatch, type Match, matchSchema } from "../elements/match.ts";
import { tidy } from "../elements/text.ts";
import type { TextLine } from "./textLines.ts";

/** As `match` of every check, and `fuzzy`: with at most so many letters wrong, left out or too many. */
export const readMatchSchema = z.enum([...matchSchema.options, "fuzzy"]);

/** `repair`: letters that look alike in a picture count as the same. `distance` is that of `fuzzy`. */
export type WantedText = {
  text: string;
  match: z.output<typeof readMatchSchema>;
  repair: boolean;
  distance?: number | undefined;
};

/** A text that is what was wanted, and in what it is so after all. */
export type FoundText = { line: TextLine; note: string };

/** Letters that tesseract takes for each other, in lower case; the first one stands for all of them. */
const alike = ["0o", "1il|", "·•:-–—"];
/** One wrong letter in so many is allowed where a fuzzy check states no distance. */
const lettersForOne = 8;
const mostLetters = 300;

/** The letters that are allowed to differ in a fuzzy check. */
export const distanceOf = ({ text, distance }: WantedText): number =>
  distance ?? Math.max(1, Math.floor(text.length / lettersForOne));

/** The first of the texts that is what is wanted. Throws INVALID_PARAMS for a broken pattern. */
export async function findText(
  wanted: WantedText,
  texts: readonly TextLine[],
): Promise<FoundText | undefined> {
  if (wanted.match === "fuzzy") return findFuzzy(wanted, texts);
  const { match, text } = wanted;
  const found =
    texts[
      await firstMatch(
        match,
        text,
        texts.map((line) => line.text),
      )
    ];
  if (found) return { line: found, note: "" };
  return wanted.repair ? findRepaired(match, text, texts) : undefined;
}

/** The first of the texts that is what is wanted once letters that look alike count as the same; `note` says which. */
export async function findRepaired(
  match: Match,
  text: string,
  texts: readonly TextLine[],
): Promise<FoundText | undefined> {
  // A pattern and an exact text say themselves which letters they take.
  if (match === "pattern" || match === "exact") return undefined;
  const open = withoutSecrets(texts);
  const folded = open.map((line) => foldedAlike(line.text));
  const line = open[await firstMatch(match, foldedAlike(text), folded)];
  return line && { line, note: repairsIn(line.text, text) };
}

/** A secret is compared by its name alone, which no letter of it may change. */
const withoutSecrets = (texts: readonly TextLine[]) => texts.filter(({ text }) => concealed(text) === text);

const shown = (text: string) => tidy(text).toLowerCase();

function foldedAlike(text: string): string {
  return [...shown(text)]
    .map((letter) => alike.find((same) => same.includes(letter))?.[0] ?? letter)
    .join("");
}

/** Such as `"O" for "0"`: what was read, for what was wanted. */
function repairsIn(read: string, wanted: string): string {
  const [found, want] = [[...shown(read)], [...shown(wanted)]];
  const at = Math.max(0, foldedAlike(read).indexOf(foldedAlike(wanted)));
  const letters = [...tidy(read)];
  const pairs = want.flatMap((letter, index) =>
    found[at + index] === letter
      ? []
      : [`"${letters[at + index] ?? ""}" for "${[...tidy(wanted)][index] ?? ""}"`],
  );
  return `repaired: it reads ${[...new Set(pairs)].join(", ")}`;
}

function findFuzzy(wanted: WantedText, texts: readonly TextLine[]): FoundText | undefined {
  const least = nearestText(wanted.text, texts);
  if (!least || least.distance > distanceOf(wanted)) return undefined;
  const note = `${least.distance} of its letters differ, ${distanceOf(wanted)} may`;
  return { line: least.line, note };
}

/** The text that has the wanted one, as whole words, with the fewest letters that differ. */
export function nearestText(
  text: string,
  texts: readonly TextLine[],
): { line: TextLine; distance: number } | undefined {
  return withoutSecrets(texts)
    .map((line) => ({ line, distance: distanceWithin(text, line.text) }))
    .sort((a, b) => a.distance - b.distance)[0];
}

/** The fewest letters by which the text differs from a part of the other one that begins and ends with words. Case does not count. */
export function distanceWithin(text: string, within: string): number {
  const want = [...` ${shown(text).slice(0, mostLetters)} `];
  const found = [...` ${shown(within).slice(0, 4 * mostLetters)} `];
  // Sellers' algorithm: an edit distance that begins anywhere in the second text, and ends anywhere.
  let costs = want.map((_, at) => at + 1);
  let least = want.length;
  for (const letter of found) {
    let [diagonal, above] = [0, 0];
    costs = costs.map((cost, at) => {
      const same = want[at] === letter ? 0 : 1;
      above = Math.min(diagonal + same, cost + 1, above + 1);
      diagonal = cost;
      return above;
    });
    least = Math.min(least, costs.at(-1) ?? least);
  }
  return least;
}
