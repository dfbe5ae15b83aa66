import elsewhere from "./elsewhere.json" with { type: "json" };
import { learnEvidence } from "./evidence.ts";
import { type Features, featuresOf } from "./features.ts";
import { learnLikeness } from "./likeness.ts";
import { namesByKind } from "./names.ts";
import type { Skill } from "./skill.ts";

/** How a text fits; higher fits better, and only the differences say something. */
export type Fit = {
  /** Each of the skills, in their order. */
  scores: readonly number[];
  /** What no skill is for. */
  elsewhere: number;
};

/** The name of an event is only met as it is written. */
const eventName = /^[a-z]+(\.[a-z_]+)+$/;
/** With little to go by a difference is chance: this is laid beside what is known of the text, in the features' weights. */
const doubt = 3;
/** What one unit of likeness counts against one of evidence. */
const likenessWeight = 2;

/** Learns from names, triggers and descriptions what each skill is for. */
export function learnFit(skills: readonly Skill[]): (text: string) => Fit {
  const examples = [...skills.map(phrasesOf), ...topicsElsewhere].map(readAll);
  const [evidenceFor, likenessOf] = [learnEvidence(examples), learnLikeness(examples)];
  return (text) => {
    const features = featuresOf(text);
    const evidence = evidenceFor(features);
    const likeness = likenessOf(features);
    const scores = evidence.scores.map(
      (score, at) => score / Math.sqrt(doubt + evidence.known) + likenessWeight * (likeness[at] ?? 0),
    );
    return { scores: scores.slice(0, skills.length), elsewhere: Math.max(...scores.slice(skills.length)) };
  };
}

const topicsElsewhere = elsewhere.topics.map((topic) => topic.split("|"));

const phrasesOf = ({ name, triggers, examples = [], description }: Skill): string[] => [
  name.replaceAll("-", " "),
  ...triggers.filter((trigger) => !eventName.test(trigger)),
  ...examples,
  ...description.split(/[.,;()]/).filter((part) => part.trim() !== ""),
];

/** The phrase of a skill that is most like a text; its name when none is like it. */
export function nearestPhrase(text: string, skill: Skill): string {
  const phrases = phrasesOf(skill).map((phrase) => phrase.trim());
  const likeness = learnLikeness(phrases.map((phrase) => readAll([phrase])))(featuresOf(text));
  const best = likeness.indexOf(Math.max(...likeness));
  return phrases[best] ?? skill.name;
}

const readAll = (texts: readonly string[]): Features[] => texts.map((text) => featuresOf(namesByKind(text)));
