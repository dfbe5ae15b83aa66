import type { Skill } from "./skill.ts";
import type { Evaluate, Scope } from "./tree/index.ts";
import { latestSkills } from "./versions.ts";
import { foldedWords, maxLetters, stem } from "./words.ts";

/** What is known besides the words. */
export type MatchContext = {
  /** The kind of the device in question: skills for another kind are left out. */
  platform?: Skill["platform"] | undefined;
  /**
   * What the request is about, such as a ticket, with the evaluator of conditions. Skills whose conditions are false for it are left
   * out; where the words decide nothing, the only one whose conditions all hold and whose phrase is in the request is chosen.
   */
  subject?: { context: Scope; evaluate: Evaluate } | undefined;
};

/** `phrase`: the trigger that decided. */
export type SkillMatch =
  | { kind: "match"; skill: Skill; phrase: string }
  | {
      kind: "ask";
      /** Up to 8 that share words with the request, best first; none when no skill does. */
      candidates: Skill[];
      /** Why no skill was chosen. */
      reason: string;
    };

export const maxCandidates = 8;
/** A request that adds more words than this to a trigger wants something else as well. */
const maxAddedWords = 4;

/** Courtesy, articles and pronouns in English, French and German: they never count. */
const courtesy =
  wordSet(`a an the this that these those my our your some all please pls can could would will you i we want
  to need let us me just now hi hello hey thanks le la les l un une des du de d ce cet cette ces mon ma mes notre nos votre
  je peux tu pouvez vous svp s il te plait merci bonjour der die das den dem des ein eine einen einem einer mein meine ich du
  bitte danke kannst mal`);
/** Words of a place, a state or a follow-up, and the device that every lab has: they may follow a trigger. */
const links =
  wordSet(`on in at of to from for with by there are is it browser go yes no ok again once more continue sur dans à pour
  avec est sont oui non encore auf in an von für mit ist sind ja nein weiter noch`);
/** Words that join a second wish. */
export const joiners = wordSet(
  `and also then plus but or et puis ensuite mais ou und dann danach sowie aber oder`,
);
const nextSentence = /[.;!?,:]\s+\S/;
/** Quoted texts, and names such as login_basic, stb-3, REQ-12, lab/browser or a URL. */
export const names = /"[^"]*"|«[^»]*»|“[^”]*”|„[^“”]*[“”]|(?<!\p{L})'[^']{2,}'(?!\p{L})|\S*[_\d@/]\S*/gu;

/**
 * Finds the skill that a request asks for, without a model. A request matches when it is a trigger of one skill, or begins
 * with one and adds only names and words of no other skill's triggers. Anything else is undecided: a wrong skill is worse
 * than a question. Of several versions of a skill only the highest counts.
 */
export function matchSkill(
  request: string,
  skills: readonly Skill[],
  { platform, subject }: MatchContext = {},
): SkillMatch {
  const possible = latestSkills(skills).filter(
    (skill) =>
      (!platform || skill.platform === null || skill.platform === platform) &&
      judge(skill, subject).every((holds) => holds !== false),
  );
  const phrases = possible.flatMap((skill) => wordsOfSkill(skill).phrases);
  const found = bySubject(decide(request, phrases), request, phrases, subject);
  if (typeof found !== "string") return { kind: "match", skill: found.skill, phrase: found.text };
  return { kind: "ask", candidates: rank(request, possible).slice(0, maxCandidates), reason: found };
}

/** `words` are stems. */
type Phrase = { skill: Skill; text: string; words: readonly string[] };

/** The phrase that decides, or why none does. */
function decide(request: string, phrases: readonly Phrase[]): Phrase | string {
  if (request.length > maxLetters) return `it has more than ${maxLetters} letters`;
  const whole = wordsOf(request);
  const same = phrases.filter(({ words }) => words.length === whole.length && startsWith(whole, words));
  if (same.length > 0) return onlyOne(same);
  const words = wordsOf(request.replace(names, " "));
  const begun = phrases.filter((phrase) => phrase.words.length > 1 && startsWith(words, phrase.words));
  const longest = Math.max(0, ...begun.map((phrase) => phrase.words.length));
  if (longest === 0) return "it does not begin with a trigger";
  const phrase = onlyOne(begun.filter((one) => one.words.length === longest));
  if (typeof phrase === "string") return phrase;
  const added = words.slice(longest).filter((word) => !links.has(word));
  return objection(added, request, phrase, phrases) ?? phrase;
}

/** Whether each condition of a skill holds; one that cannot be determined rules nothing out. */
const judge = ({ conditions = [] }: Skill, subject: MatchContext["subject"]) =>
  subject === undefined ? [] : conditions.map((condition) => subject.evaluate(condition, subject.context));

/** Where the words decide nothing: the only skill for this subject with a phrase anywhere in the request. */
function bySubject(
  decided: Phrase | string,
  request: string,
  phrases: readonly Phrase[],
  subject: MatchContext["subject"],
): Phrase | string {
  if (typeof decided !== "string" || subject === undefined || request.length > maxLetters) return decided;
  const words = wordsOf(request);
  const fitting = phrases.filter(({ skill, words: phrase }) => {
    const holds = judge(skill, subject);
    const isForSubject = holds.length > 0 && holds.every((one) => one === true);
    return isForSubject && words.some((_, at) => startsWith(words.slice(at), phrase));
  });
  const [first] = fitting;
  return first !== undefined && fitting.every(({ skill }) => skill === first.skill) ? first : decided;
}

function onlyOne(phrases: readonly Phrase[]): Phrase | string {
  const [first] = phrases;
  const names = new Set(phrases.map(({ skill }) => skill.name));
  if (first !== undefined && names.size === 1) return first;
  return `it is a trigger of ${[...names].join(" and of ")}`;
}

/** Why the words after a trigger may ask for another skill. */
function objection(
  added: readonly string[],
  request: string,
  { skill, text }: Phrase,
  phrases: readonly Phrase[],
): string | undefined {
  if (added.length === 0) return undefined;
  if (added.some((word) => joiners.has(word)) || nextSentence.test(request))
    return `it says more than "${text}" of ${skill.name}`;
  if (added.length > maxAddedWords)
    return `it adds more than ${maxAddedWords} words to "${text}" of ${skill.name}`;
  const own = new Set(phrases.filter((phrase) => phrase.skill === skill).flatMap(({ words }) => words));
  const other = phrases.find(({ words }) => words.some((word) => added.includes(word) && !own.has(word)));
  return (
    other &&
    `it begins with "${text}" of ${skill.name} and has a word of "${other.text}" of ${other.skill.name}`
  );
}

/** Skills that share words with a request in their triggers or description. A word counts more the fewer skills have it. */
function rank(request: string, skills: readonly Skill[]): Skill[] {
  const texts = skills.map((skill) => ({ skill, words: wordsOfSkill(skill).all }));
  const asked = new Set(meaningfulWords(request));
  const weights = new Map(
    [...asked].map((word) => {
      const having = texts.filter(({ words }) => words.has(word)).length;
      return [word, Math.log((skills.length + 1) / Math.max(having, 1))] as const;
    }),
  );
  const scored = texts.map(({ skill, words }) => {
    const shared = [...asked].filter((word) => words.has(word));
    return { skill, score: shared.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0) };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1))
    .map(({ skill }) => skill);
}

/** The phrase of a skill that shares most words with a request; its name when none does. */
export function nearestPhrase(request: string, skill: Skill): string {
  const asked = new Set(meaningfulWords(request));
  const shared = (text: string) => meaningfulWords(text).filter((word) => asked.has(word)).length;
  const best = phrasesOf(skill).reduce((best, text) => (shared(text) > shared(best) ? text : best));
  return shared(best) > 0 ? best : skill.name;
}

const phrasesOf = ({ name, triggers, examples = [] }: Skill): string[] => [name, ...triggers, ...examples];

type SkillWords = { phrases: readonly Phrase[]; all: ReadonlySet<string> };
/** A skill never changes once it is loaded, and every request is compared with all of them. */
const knownWords = new WeakMap<Skill, SkillWords>();

function wordsOfSkill(skill: Skill): SkillWords {
  const known = knownWords.get(skill);
  if (known) return known;
  const texts = phrasesOf(skill);
  const words = {
    phrases: texts.map((text) => ({ skill, text, words: wordsOf(text) })),
    all: new Set([...texts, skill.description].flatMap(meaningfulWords)),
  };
  knownWords.set(skill, words);
  return words;
}

/** Stems without courtesy; a text of nothing else keeps all its words. */
function wordsOf(text: string): string[] {
  const words = foldedWords(text);
  const counting = words.filter((word) => !courtesy.has(word));
  return (counting.length > 0 ? counting : words).map(stem);
}

const meaningfulWords = (text: string): string[] =>
  wordsOf(text).filter((word) => !links.has(word) && !joiners.has(word));

const startsWith = (words: readonly string[], start: readonly string[]): boolean =>
  start.length <= words.length && start.every((word, at) => word === words[at]);

function wordSet(text: string): ReadonlySet<string> {
  return new Set(foldedWords(text).flatMap((word) => [word, stem(word)]));
}
