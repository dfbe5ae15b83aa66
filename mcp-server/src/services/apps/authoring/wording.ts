/** Verbs that people also write of a user: "the user clicks". */
const thirdPerson =
  /^(click|tap|type|enter|select|choose|pick|open|see|scroll|hover|tick|untick|uncheck|fill|clear|upload|drag|drop|wait|visit|reload|submit|(?:press|go|search)(?=es))e?s\b/i;

/** Each is replaced once, in this order. */
const rewrites: readonly (readonly [RegExp, string])[] = [
  [/[’]/g, "'"],
  [/\b(is|are|was|does|do|did|should|must|has)n't\b/gi, "$1 not"],
  [/\bcan(?:'t|not)\b/gi, "can not"],
  [/\b(?:not to|to not) be\b/gi, "is not"],
  [/\b(?:not to|to not) (have|contain|show|exist|equal)\b/gi, "does not $1"],
  [
    /^(?:(?:please|now|then|and|but|given|when|finally|next),? |(?:the |a )?user (?!is |has |was )|i (?!am )|we (?!are )|you (?!are ))+/i,
    "",
  ],
  [thirdPerson, "$1"],
  [/^(wait)(?: for)?(?: up to| at most)? (\d+ ?[a-z]+) (for|until|till) (.+)$/i, "$1 $3 $4 for $2"],
];

/** A sentence without what the short forms of English, polite words and the one who does it add. */
export const inFull = (text: string): string =>
  rewrites.reduce((said, [pattern, by]) => said.replace(pattern, by), text);
