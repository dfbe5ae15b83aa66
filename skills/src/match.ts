import { type Fit, learnFit } from "./fit.ts";
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
  const index = indexOf(skills);
  const text = namesByKind(request.slice(0, maxLetters));
  const kinds = kindsIn(text, context.platform);
  const isCandidate = ({ platform }: Skill) => platform === null || kinds.size === 0 || kinds.has(platform);
  const named = (index.byPhrase.get(phraseKey(request)) ?? []).filter(isCandidate);
  const [only] = named;
  if (only !== undefined && named.length === 1) return { kind: "match", skill: only, score: sureScore };
  const { ranked, lead } = rank(index, text, isCandidate);
  const [best] = ranked;
  const isClear =
    best !== undefined &&
    named.length === 0 &&
    sayingWords(text).length >= minWords &&
    lead >= minLead &&
    (best.platform === null || kinds.has(best.platform)) &&
    gainOfTwo(text, index.fitOf) <= maxGainOfTwo * Math.log(1 + skills.length);
  return isClear ? { kind: "match", skill: best, score: lead } : ask(ranked);
}

function indexOf(skills: readonly Skill[]): Index {
  const known = indexes.get(skills);
  if (known !== undefined) return known;
  const latest = latestSkills(skills);
  const byPhrase = new Map<string, Skill[]>();
  for (const skill of latest)
    for (const phrase of new Set([skill.name, ...skill.triggers].map(phraseKey)))
      byPhrase.set(phrase, [...(byPhrase.get(phrase) ?? []), skill]);
  const index = { skills: latest, byPhrase, fitOf: learnFit(latest) };
  indexes.set(skills, index);
  return index;
}

const sayingWords = (text: string): string[] => foldedWords(text).filter((word) => !isEmpty(word));

/** A phrase by the words that say something, where there are enough. */
const phraseKey = (text: string): string => {
  const saying = sayingWords(text);
  return (saying.length >= minWords ? saying : foldedWords(text)).join(" ");
};

/** By fit, then by name; `lead` is how far the first is before the second, or before what no skill is for. */
function rank({ skills, fitOf }: Index, text: string, isCandidate: (skill: Skill) => boolean) {
  const { scores, elsewhere } = fitOf(text);
  const ranked = skills
    .map((skill, at) => ({ skill, score: scores[at] ?? 0 }))
    .filter(({ skill }) => isCandidate(skill))
    .sort((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1));
  const [best = elsewhere, second = elsewhere] = ranked.map(({ score }) => score);
  return { ranked: ranked.map(({ skill }) => skill), lead: best - Math.max(second, elsewhere) };
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
