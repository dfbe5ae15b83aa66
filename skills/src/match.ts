import { type Fit, learnFit, nearestPhrase } from "./fit.ts";
import { isEmpty, meaningsOf } from "./meanings.ts";
import { namesByKind } from "./names.ts";
import type { Skill } from "./skill.ts";
import { latestSkills } from "./versions.ts";
import { gainOfTwo } from "./wishes.ts";
import { foldedWords } from "./words.ts";

/** What is known beside the words. */
export type MatchContext = {
  /** The kind of the device in question: a skill for another kind is no candidate. */
  platform?: Skill["platform"] | undefined;
};

/** `score` has no unit; higher is surer. */
export type SkillMatch =
  | { kind: "match"; skill: Skill; score: number }
  | {
      kind: "ask";
      /** 2 to 4, best first; fewer only where there are no more skills. */
      candidates: Skill[];
    };

/** A longer request is read up to here. */
const maxLetters = 2_000;
/** Fewer words that say something, as in "check it", say too little. */
const minWords = 2;
/** A request that is a trigger, word for word. */
const sureScore = 100;
/**
 * How far before the next the best must be. With less, more requests are matched and more of them wrongly: set by the last
 * 200 requests of test/skills/requests/open.yaml, before anybody had tuned for them.
 */
const minLead = 0.4;
/**
 * How much better than one skill two may fit a request, each a part of it. The more skills there are, the more often two do
 * by chance, so it is times the logarithm of their number. Set by the first requests of that file.
 */
const maxGainOfTwo = 1.3;
const maxCandidates = 4;

type Index = {
  skills: readonly Skill[];
  /** By name and by trigger. */
  byPhrase: ReadonlyMap<string, readonly Skill[]>;
  /** Phrases with too few words that say something to be known by those. */
  short: readonly { words: readonly string[]; skill: Skill }[];
  fitOf: (text: string) => Fit;
};
const indexes = new WeakMap<readonly Skill[], Index>();

/**
 * Finds the skill that a request asks for, by its triggers and description, without a model. Undecided, between two or
 * because nothing fits, it asks: asking is never wrong, a wrong skill is. Pure and deterministic. Of several versions the
 * highest is meant; `skills` must not be changed afterwards.
 */
export function matchSkill(
  request: string,
  skills: readonly Skill[],
  context: MatchContext = {},
): SkillMatch {
  return decide(readRequest(request, skills, context));
}

function decide(read: Read): SkillMatch {
  const [only] = read.named;
  if (only !== undefined && read.named.length === 1) return { kind: "match", skill: only, score: sureScore };
  const { ranked, lead } = rank(read);
  const [best] = ranked;
  const isStopped = gates(read, { ranked, lead }).next().done !== true;
  if (best === undefined || isStopped) return ask(ranked.map(({ skill }) => skill));
  return { kind: "match", skill: best.skill, score: lead };
}

export type MatchReason = {
  decision: SkillMatch;
  /** Best first. `score`: how much better a skill fits than what no skill is for. `phrase`: what of it comes nearest. */
  near: { skill: Skill; score: number; phrase: string }[];
  /** Why the best is not taken, in words. */
  stopped: string[];
};

/** Why {@link matchSkill} decides as it does. */
export function explainMatch(
  request: string,
  skills: readonly Skill[],
  context: MatchContext = {},
): MatchReason {
  const read = readRequest(request, skills, context);
  const decision = decide(read);
  const { ranked, lead } = rank(read);
  return {
    decision,
    near: ranked
      .slice(0, maxCandidates)
      .map(({ skill, score }) => ({ skill, score, phrase: nearestPhrase(read.text, skill) })),
    stopped: decision.kind === "match" ? [] : [...gates(read, { ranked, lead })],
  };
}

type Read = {
  index: Index;
  text: string;
  kinds: ReadonlySet<string>;
  isCandidate(skill: Skill): boolean;
  /** Those of which the request is a trigger or the name. */
  named: readonly Skill[];
};
type Ranking = { ranked: readonly { skill: Skill; score: number }[]; lead: number };

function readRequest(request: string, skills: readonly Skill[], context: MatchContext): Read {
  const index = indexOf(skills);
  const text = namesByKind(request.slice(0, maxLetters));
  const kinds = kindsIn(text, context.platform);
  const isCandidate = ({ platform }: Skill) => platform === null || kinds.size === 0 || kinds.has(platform);
  const named = (index.byPhrase.get(phraseKey(request)) ?? shortIn(index, request)).filter(isCandidate);
  return { index, text, kinds, isCandidate, named };
}

/** Skills of a short phrase to which the request adds nothing but small words, as in "tidy up please". */
function shortIn({ short }: Index, request: string): readonly Skill[] {
  const words = foldedWords(request);
  if (sayingWords(request).length >= minWords) return [];
  return [
    ...new Set(short.filter((phrase) => addsSmallWords(words, phrase.words)).map(({ skill }) => skill)),
  ];
}

function addsSmallWords(words: readonly string[], phrase: readonly string[]): boolean {
  let next = 0;
  for (const word of words) {
    if (word === phrase[next]) next += 1;
    else if (!isEmpty(word)) return false;
  }
  return next === phrase.length;
}

/** What keeps the best from being taken, the cheapest to find out first. */
function* gates({ index, text, kinds, named }: Read, { ranked, lead }: Ranking): Generator<string, void> {
  const [best, second] = ranked;
  if (best === undefined) return yield "there is no skill for such a device";
  if (named.length > 1) yield `it is a trigger of ${named.map(({ name }) => name).join(" and of ")}`;
  const words = sayingWords(text);
  if (words.length < minWords)
    yield `only ${words.length} of its words say something, and ${minWords} are needed`;
  if (lead < minLead) {
    const next = second && second.score > 0 ? second.skill.name : "what no skill is for";
    yield `${best.skill.name} fits ${lead.toFixed(2)} better than ${next}, and ${minLead} are needed`;
  }
  const { platform } = best.skill;
  if (platform !== null && !kinds.has(platform))
    yield `${best.skill.name} is for ${platform}, and no such device is named`;
  if (gainOfTwo(text, index.fitOf) > maxGainOfTwo * Math.log(1 + index.skills.length))
    yield "two skills fit it better, each a part of it";
}

function indexOf(skills: readonly Skill[]): Index {
  const known = indexes.get(skills);
  if (known !== undefined) return known;
  const latest = latestSkills(skills);
  const byPhrase = new Map<string, Skill[]>();
  for (const skill of latest)
    for (const phrase of new Set(phrasesOf(skill).map(phraseKey)))
      byPhrase.set(phrase, [...(byPhrase.get(phrase) ?? []), skill]);
  const short = latest.flatMap((skill) =>
    phrasesOf(skill)
      .filter((phrase) => sayingWords(phrase).length < minWords)
      .map((phrase) => ({ words: foldedWords(phrase), skill }))
      .filter(({ words }) => words.length > 1),
  );
  const index = { skills: latest, byPhrase, short, fitOf: learnFit(latest) };
  indexes.set(skills, index);
  return index;
}

const phrasesOf = ({ name, triggers, examples = [] }: Skill): readonly string[] => [
  name,
  ...triggers,
  ...examples,
];

const sayingWords = (text: string): string[] => foldedWords(text).filter((word) => !isEmpty(word));

/** A phrase by the words that say something, where there are enough. */
const phraseKey = (text: string): string => {
  const saying = sayingWords(text);
  return (saying.length >= minWords ? saying : foldedWords(text)).join(" ");
};

/** By fit, then by name; `lead` is how far the first is before the second, or before what no skill is for. */
function rank({ index: { skills, fitOf }, text, isCandidate }: Read): Ranking {
  const { scores, elsewhere } = fitOf(text);
  const ranked = skills
    .map((skill, at) => ({ skill, score: (scores[at] ?? 0) - elsewhere }))
    .filter(({ skill }) => isCandidate(skill))
    .sort((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1));
  const [best = 0, second = 0] = ranked.map(({ score }) => score);
  return { ranked, lead: best - Math.max(second, 0) };
}

/** What speaks of a device of each kind, as meanings of the lexicon. */
const kindWords: Readonly<Record<string, readonly string[]>> = {
  web: ["website", "url"],
  mobile: ["phone"],
  stb: ["tv", "remote"],
  desktop: ["desktop"],
};

/** The kind of device that is given, or else those that the request names: a skill for another is not meant. */
function kindsIn(text: string, given: Skill["platform"] | undefined): ReadonlySet<string> {
  if (given !== undefined && given !== null) return new Set([given]);
  const meanings = new Set(meaningsOf(foldedWords(text)));
  return new Set(
    Object.keys(kindWords).filter((kind) => kindWords[kind]?.some((word) => meanings.has(word))),
  );
}

const ask = (ranked: readonly Skill[]): SkillMatch => ({
  kind: "ask",
  candidates: ranked.slice(0, maxCandidates),
});
