import { selectorOf } from "./ordinals.ts";
import { check, type Meaning, type Phrase, phrase } from "./phrase.ts";
import type { Parts, Vocabulary } from "./types.ts";
import { contains, exactly, has, is, isNot, may, maybeVerb, not } from "./wordParts.ts";

const equal = "equals?";
const textNoun = "(?: the)? text";
const valueNoun = "(?<value>(?: the)? value)";
const number = "(?<count>\\d{1,6}|no|one|two|three|four|five)";
const numbers: Readonly<Record<string, number>> = { no: 0, one: 1, two: 2, three: 3, four: 4, five: 5 };
const amount = "(?<least>-?\\d+(?:\\.\\d+)?)";

const countOf = (part: Parts): number => {
  const said = part("count").toLowerCase();
  return numbers[said] ?? Number(said);
};

type Content = { check: "element_text" | "element_value"; match?: "contains" };

/** What an element shows or holds; `exactly` with its case and white space. */
function holding({ check: name, match }: Content) {
  const key = name === "element_text" ? "text" : "value";
  return (part: Parts, vocabulary: Vocabulary): Meaning => {
    const how = part("exactly") === "" ? match : "exact";
    const params = { selector: selectorOf(part), [key]: part("content"), ...(how && { match: how }) };
    return check(vocabulary, name, params, isNot(part));
  };
}

/** What is no field holds no value, so that it never has a wrong one: of a contrary it must be said which is meant. */
function holdingValue(content: Content) {
  const read = holding(content);
  return (part: Parts, vocabulary: Vocabulary): Meaning =>
    isNot(part).negate && part("value") === "" ? textOrValue(part) : read(part, vocabulary);
}

function textOrValue(part: Parts): Meaning {
  const not = isNot(part).negate ? "does not have" : "has";
  return {
    reason: "say whether it is the element's text or the field's value",
    nearest: ["text", "value"].map((what) => `check "${part("name")}" ${not} ${what} "${part("content")}"`),
  };
}

/** `bound` is the limit that a number of elements is checked by. */
function counted(bound: "count" | "min" | "max") {
  return (part: Parts, vocabulary: Vocabulary): Meaning =>
    check(
      vocabulary,
      "element_count",
      { selector: part("name"), [bound]: countOf(part) },
      part("not") === "" ? {} : { negate: true },
    );
}

const thereAre = `${maybeVerb}(?:there (?:is|are|should be|must be) )`;

/** How many elements there are. */
const countPhrases: readonly Phrase[] = [
  phrase(
    'check the number of "X" is 3',
    `${maybeVerb}(?:the )?(?:count|number) of {name} (?:${is}${not}|equals)(?: exactly)? ${number}`,
    counted("count"),
  ),
  phrase(
    'check there are 3 "X"',
    `(?:${thereAre}|${maybeVerb})(?:exactly )?${number} {name}(?: (?:is|are|be) (?:visible|shown|displayed|there))?`,
    counted("count"),
  ),
  phrase(
    'check "X" appears 3 times',
    `${maybeVerb}{name} appears?(?: exactly)? ${number} times`,
    counted("count"),
  ),
  phrase('check there are at least 3 "X"', `${thereAre}at least ${number} {name}`, counted("min")),
  phrase('check there are at most 3 "X"', `${thereAre}(?:at most|up to) ${number} {name}`, counted("max")),
];

/** The text, value, attributes and numbers of an element. */
const holdPhrases: readonly Phrase[] = [
  phrase(
    'check "X" has text "T"',
    `${maybeVerb}{name} ${may}(?:${has}|${equal})${exactly}${textNoun} {content}`,
    holding({ check: "element_text" }),
  ),
  phrase(
    'check the text of "X" is "T"',
    `${maybeVerb}(?:the )?text of {name} (?:${is}${not}|${may}${equal})${exactly} {content}`,
    holding({ check: "element_text" }),
  ),
  phrase(
    'check "X" contains text "T"',
    `${maybeVerb}{name} ${may}${contains}${textNoun} {content}`,
    holding({ check: "element_text", match: "contains" }),
  ),
  phrase(
    'check the text of "X" contains "T"',
    `${maybeVerb}(?:the )?text of {name} ${may}${contains} {content}`,
    holding({ check: "element_text", match: "contains" }),
  ),
  phrase(
    'check "X" shows "T"',
    `${maybeVerb}{name} ${may}(?:shows?|reads?|displays?)${exactly} {content}`,
    holding({ check: "element_text" }),
  ),
  phrase(
    'check "X" has value "V"',
    `${maybeVerb}{name} ${may}(?:has|have|holds?|${equal})${exactly}${valueNoun}? {content}`,
    holdingValue({ check: "element_value" }),
  ),
  phrase(
    'check "X" has value "V"',
    `${maybeVerb}{name} value ${is}${not}${exactly} {content}`,
    holding({ check: "element_value" }),
  ),
  phrase(
    'check the value of "X" is "V"',
    `${maybeVerb}(?:the )?value of {name} (?:${is}${not}|${may}${equal})${exactly} {content}`,
    holding({ check: "element_value" }),
  ),
  phrase(
    'check "X" contains "V"',
    `${maybeVerb}{name} ${may}${contains}${valueNoun}? {content}`,
    holdingValue({ check: "element_value", match: "contains" }),
  ),
  phrase(
    'check the value of "X" contains "V"',
    `${maybeVerb}(?:the )?value of {name} ${may}${contains} {content}`,
    holding({ check: "element_value", match: "contains" }),
  ),
  phrase('check "X" has text "T"', `${maybeVerb}{name} (?:${is}${not}${exactly}|=+) {content}`, textOrValue),
  phrase(
    'check "X" has attribute "A" with value "V"',
    `${maybeVerb}{name} ${may}(?:has|have)(?: an?| the)? attribute {attribute}(?:(?: with)?(?: the)? value| of| equal to| =) {content}`,
    (part, vocabulary) =>
      check(
        vocabulary,
        "element_attribute",
        { selector: selectorOf(part), attribute: part("attribute"), value: part("content") },
        isNot(part),
      ),
  ),
  phrase(
    'check "X" has placeholder "T"',
    `${maybeVerb}{name} ${may}(?:has|have)(?: an?| the)? placeholder {content}`,
    (part, vocabulary) =>
      check(
        vocabulary,
        "element_attribute",
        { selector: selectorOf(part), attribute: "placeholder", value: part("content") },
        isNot(part),
      ),
  ),
  phrase('check "X" has focus', `${maybeVerb}{name} ${may}(?:has|have)(?: the)? focus`, (part, vocabulary) =>
    check(vocabulary, "element_focused", { selector: selectorOf(part) }, isNot(part)),
  ),
  phrase(
    'check "X" is between 1 and 5',
    `${maybeVerb}{name} ${is}${not} between ${amount} and (?<most>-?\\d+(?:\\.\\d+)?)`,
    between,
  ),
  phrase('check "X" is at least 3', `${maybeVerb}{name} ${is}${not} at least ${amount}`, between),
  phrase(
    'check "X" is at most 3',
    `${maybeVerb}{name} ${is}${not} at most (?<most>-?\\d+(?:\\.\\d+)?)`,
    between,
  ),
];

function between(part: Parts, vocabulary: Vocabulary): Meaning {
  const limits = [["min", part("least")] as const, ["max", part("most")] as const];
  const given = limits.filter(([, said]) => said !== "").map(([name, said]) => [name, Number(said)]);
  const params = { selector: selectorOf(part), ...Object.fromEntries(given) };
  return check(vocabulary, "value_between", params, isNot(part));
}

/** What an element holds, and how many there are. */
export const contentPhrases: readonly Phrase[] = [...countPhrases, ...holdPhrases];
