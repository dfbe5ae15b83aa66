import { meaningsOf } from "./meanings.ts";
import { foldedWords } from "./words.ts";

/** What a request says, without its names. */
export type Request = {
  terms: ReadonlySet<string>;
  /** The same in the parts that a word such as "and" joins; empty when there is only one. */
  clauses: readonly ReadonlySet<string>[];
  /** The kinds of device that it names. */
  platforms: ReadonlySet<string>;
};

/** Names of things, by their form: what they are and a word for it that triggers know. Order counts. */
const named: readonly [RegExp, string][] = [
  [/\bhttps?:\/\/\S+/giu, " url "],
  [/(?<=\s|^)\/[\w-]+(?:\/[\w-]+)+/gu, " url "],
  [/\b[\w-]+\.ya?ml\b/giu, " yaml "],
  [
    /\b\w+(?:_(?:web|app|ios|android|mobile|tv|stb|desktop))\b|\b(?:web|app|ios|android|mobile)_\w+/giu,
    " app ",
  ],
  [/\b[\p{L}\d]+(?:_[\p{L}\d]+)+\b/gu, " testcase "],
  [/\b(?:REQ|EX|US|ANF)-?\d+\b|\b[A-Z]{2,}-\d{1,5}\b/gu, " requirement reqcode "],
  [/\b(?:run|lauf|execution|exécution|job)\s+#?\d+/giu, " execution "],
  [/\b(?:alert|alarm|alerte|alarme)\s+#?\d+/giu, " alert "],
  [/\b(?:stb|box|rack|host|lab|tv|android|phone|device|browser|fire-tv)-[\w-]*\d\b/giu, " device "],
  [/\b(?:home|start|accueil)\s*(?:->|→)\s*\w+|\b\w+\s*(?:->|→)\s*\w+/giu, " edge "],
];

const platformWords: Readonly<Record<string, string>> = { tv: "stb" };

/** A longer request is read up to here. */
const maxLetters = 2_000;

/** Reads a request of any length; what stands in quotes is a name and says nothing, unless nothing else is there. */
export function readRequest(text: string): Request {
  const plain = text
    .slice(0, maxLetters)
    .replace(/"[^"]*"|«[^»]*»|“[^”]*”|„[^“”]*[“”]|'[^']{2,}'(?!\p{L})/gu, " quoted ");
  const parts = splitWishes(plain).map(termsOf);
  const terms = new Set(parts.flatMap((part) => [...part]));
  const platforms = new Set([...terms].flatMap((term) => platformWords[term] ?? []));
  return { terms, clauses: parts.length > 1 ? parts : [], platforms };
}

/** Where one wish ends and another may begin. */
const splitWishes = (text: string): string[] =>
  text.split(/[,;]?\s(?:and|et|und|sowie|außerdem)\s/iu).filter((part) => part.trim() !== "");

/** What a text means, its names by what they are. */
export function termsOf(text: string): Set<string> {
  let plain = text;
  for (const [form, word] of named) plain = plain.replace(form, word);
  return new Set(meaningsOf(foldedWords(plain)));
}
