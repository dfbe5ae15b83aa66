import { joiners, type MatchContext, matchSkill, names } from "./match.ts";
import type { Skill } from "./skill.ts";
import { foldedWords } from "./words.ts";

/** A part of a request and the skill that it asks for. */
export type Wish = { text: string; skill: Skill };

const mostWishes = 4;
const alternatives = new Set(foldedWords("but or mais ou aber oder"));

/**
 * The parts of a request that asks for several skills, in its order: parted where a sentence ends or a word such as "and then"
 * joins, and each part decides for itself as {@link matchSkill} says. None where one does not, or all ask for one skill.
 */
export function wishesIn(request: string, skills: readonly Skill[], context: MatchContext = {}): Wish[] {
  const parts = partsOf(request);
  if (parts.length < 2 || parts.length > mostWishes) return [];
  const wishes = parts.flatMap((text) => {
    const match = matchSkill(text, skills, context);
    return match.kind === "match" ? [{ text, skill: match.skill }] : [];
  });
  const isOfSeveral = new Set(wishes.map(({ skill }) => skill)).size > 1;
  return wishes.length === parts.length && isOfSeveral ? wishes : [];
}

/** No part ends within quotes or a name. */
function partsOf(request: string): string[] {
  const parts: string[] = [];
  let words: string[] = [];
  const end = () => {
    if (words.length > 0) parts.push(words.join(" ").replace(/[.;!?,:]+$/, ""));
    words = [];
  };
  const masked = request.replace(names, (name) => name.replace(/\s/g, "\u0000"));
  for (const word of masked.split(/\s+/).filter(Boolean)) {
    const [folded = ""] = foldedWords(word);
    if (joiners.has(folded) && !alternatives.has(folded)) end();
    else words.push(word.replaceAll("\u0000", " "));
    if (/[.;!?,:]$/.test(word)) end();
  }
  end();
  return parts;
}
