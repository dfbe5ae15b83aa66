import { readRequest, termsOf } from "./request.ts";
import type { Skill } from "./skill.ts";
import { latestSkills } from "./versions.ts";
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
      question: string;
    };

/** Below this too little of what a skill is for was said. */
const minScore = 0.7;
/** A request that is a trigger, word for word. */
const sureScore = 100;
/** What each part of a request must reach to be a wish of its own. */
const minClause = 0.95;
/**
 * How much better than the second the first must be, as a part of its own score. With less, over 3 % of requests that nobody
 * tuned for went to a wrong skill (test/skills/matching.test.ts).
 */
const minLead = 0.5;
/** What a word counts that stands in a trigger, but not in the one that matched best, or only in the description. */
const besideTrigger = 0.4;
const inDescription = 0.05;
const maxCandidates = 4;

type Phrase = { terms: readonly string[]; weight: number };
type Entry = {
  skill: Skill;
  /** Its name and its triggers, folded. */
  names: ReadonlySet<string>;
  phrases: Phrase[];
  inTriggers: ReadonlySet<string>;
  inDescription: ReadonlySet<string>;
};
type Index = { entries: Entry[]; weightOf(term: string): number };

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
  const named = namedBy(request, index);
  if (named !== undefined && isForKind(named, context.platform))
    return { kind: "match", skill: named, score: sureScore };
  const { terms, clauses, platforms } = readRequest(request);
  const isFor = ({ skill }: Entry) => fits(skill, context.platform, platforms);
  const ranked = rank(terms, index, isFor);
  const [best, second] = ranked;
  const isClear =
    best !== undefined &&
    best.score >= minScore &&
    best.score - (second?.score ?? 0) >= minLead * best.score &&
    !asksForTwo(clauses, index, isFor);
  if (isClear) return { kind: "match", skill: best.entry.skill, score: best.score };
  return ask(ranked.map(({ entry }) => entry.skill));
}

function indexOf(skills: readonly Skill[]): Index {
  const known = indexes.get(skills);
  if (known !== undefined) return known;
  const index = buildIndex(latestSkills(skills));
  indexes.set(skills, index);
  return index;
}

function buildIndex(skills: readonly Skill[]): Index {
  const read = skills.map((skill) => ({
    skill,
    phrases: phrasesOf(skill).map((text) => [...termsOf(text)]),
    inDescription: termsOf(skill.description),
  }));
  const counts = new Map<string, number>();
  for (const { phrases } of read)
    for (const term of new Set(phrases.flat())) counts.set(term, (counts.get(term) ?? 0) + 1);
  // From 0 to 1, for a word of one skill only, however many skills there are.
  const weigh = (count: number) => Math.log(1 + skills.length / count) / Math.log(1 + skills.length);
  const weights = new Map([...counts].map(([term, count]) => [term, weigh(count)]));
  const weightOf = (term: string) => weights.get(term) ?? 0;
  const entries = read.map(({ skill, phrases, inDescription }) => ({
    skill,
    names: new Set([skill.name, ...skill.triggers].map(folded)),
    phrases: phrases.map((terms) => ({ terms, weight: sum(terms.map(weightOf)) })),
    inTriggers: new Set(phrases.flat()),
    inDescription,
  }));
  return { entries, weightOf };
}

/** The name of an event is only met as it is written. */
const eventName = /^[a-z]+(\.[a-z_]+)+$/;
const phrasesOf = ({ name, triggers }: Skill): string[] => [
  name.replaceAll("-", " "),
  ...triggers.filter((trigger) => !eventName.test(trigger)),
];

const folded = (text: string): string => foldedWords(text).join(" ");

/** The one skill that has the whole request as a trigger or as its name. */
function namedBy(request: string, { entries }: Index): Skill | undefined {
  const wanted = folded(request);
  const [only, ...others] = entries.filter(({ names }) => names.has(wanted));
  return others.length === 0 ? only?.skill : undefined;
}

type Ranked = { entry: Entry; score: number };

/** By score, then by name. */
function rank(terms: ReadonlySet<string>, index: Index, isFor: (entry: Entry) => boolean): Ranked[] {
  return index.entries
    .filter(isFor)
    .map((entry) => ({ entry, score: scoreOf(entry, terms, index) }))
    .sort((a, b) => b.score - a.score || (a.entry.skill.name < b.entry.skill.name ? -1 : 1));
}

/** The trigger that is met most fully and is the longest, and a part of what else fits. */
function scoreOf(entry: Entry, terms: ReadonlySet<string>, { weightOf }: Index): number {
  let best = 0;
  let covered: readonly string[] = [];
  for (const phrase of entry.phrases) {
    const met = phrase.terms.filter((term) => terms.has(term));
    const weight = sum(met.map(weightOf));
    const score = phrase.weight === 0 ? 0 : weight * (weight / phrase.weight);
    if (score > best) [best, covered] = [score, met];
  }
  const beside = [...terms].filter((term) => !covered.includes(term));
  return best + sum(beside.map((term) => shareOf(entry, term) * weightOf(term)));
}

function shareOf(entry: Entry, term: string): number {
  if (entry.inTriggers.has(term)) return besideTrigger;
  return entry.inDescription.has(term) ? inDescription : 0;
}

/** Two parts of a request that each clearly fit another skill. */
function asksForTwo(
  clauses: readonly ReadonlySet<string>[],
  index: Index,
  isFor: (entry: Entry) => boolean,
): boolean {
  const clear = clauses.flatMap((terms) => {
    const [best, second] = rank(terms, index, isFor);
    if (best === undefined || best.score < minClause) return [];
    return best.score - (second?.score ?? 0) >= minLead * best.score ? [best.entry.skill.name] : [];
  });
  return new Set(clear).size > 1;
}

/** A skill for one kind of device is only meant when that kind is given or named. */
function fits(skill: Skill, given: Skill["platform"] | undefined, named: ReadonlySet<string>): boolean {
  const isGiven = given !== undefined && given !== null;
  return isForKind(skill, given) && (isGiven || skill.platform === null || named.has(skill.platform));
}

const isForKind = ({ platform }: Skill, given: Skill["platform"] | undefined): boolean =>
  platform === null || given === undefined || given === null || platform === given;

function ask(ranked: readonly Skill[]): SkillMatch {
  const candidates = ranked.slice(0, maxCandidates);
  const offers = candidates.map(({ name, description }) => `- ${name}: ${description.split(/(?<=\.)\s/)[0]}`);
  return { kind: "ask", candidates, question: ["Which of these is meant?", ...offers].join("\n") };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
