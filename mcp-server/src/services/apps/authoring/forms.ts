import { nearest } from "@labwright/controllers";
import type { Phrase } from "./phrase.ts";

const mostForms = 3;
const usual = ["go to NODE", 'click "X"', 'type "T" into "X"'];

/** The forms of phrases that a sentence is most like: those that begin alike, then those that share words. */
export function nearestForms(sentence: string, phrases: readonly Phrase[]): string[] {
  const said = wordsOf(sentence);
  const forms = [...new Set(phrases.map(({ form }) => form))];
  const verbs = forms.map((form) => wordsOf(form)[0] ?? "");
  const like = new Set(said[0] === undefined ? [] : [said[0], ...nearest(said[0], verbs, 2)]);
  const scored = forms
    .map((form) => ({ form, score: scoreOf(wordsOf(form), said, like) }))
    .filter(({ form, score }) => form !== "" && score > 0)
    .sort((a, b) => b.score - a.score);
  return scored.length > 0 ? scored.slice(0, mostForms).map(({ form }) => form) : usual;
}

function scoreOf(form: readonly string[], said: readonly string[], like: ReadonlySet<string>): number {
  const shared = form.filter((word) => said.includes(word)).length;
  return (like.has(form[0] ?? "") ? 2 : 0) + shared / Math.max(form.length, 1);
}

/** Words that say what is done; names in quotes and small words say nothing. */
const small = new Set("the a an to in on of is are be it and with into for i we you that".split(" "));
const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/\p{L}{2,}/gu) ?? []).filter((word) => !small.has(word));
