import { check, checking, isNot, type Meaning, type Phrase, phrase, selectorOf } from "./phrase.ts";
import type { Parts } from "./types.ts";
import { contains, exactly, has, is, may, maybeVerb, not } from "./wordParts.ts";

const equal = "equals?";
const textNoun = "(?: the)? text";
const valueNoun = "(?<noun>(?: the)? value)";
const number = "(?<count>\\d{1,6}|no|one|two|three|four|five)";
const numbers: Readonly<Record<string, number>> = { no: 0, one: 1, two: 2, three: 3, four: 4, five: 5 };
const amount = (name: string) => `(?<${name}>-?\\d+(?:\\.\\d+)?)`;

const partly = { match: "contains" };

/** An element that is not a field has no value, so "not" would always hold: then the sentence must say which one it is about. */
const holdingValue = (more = {}) => {
  const read = checking("element_value", ["selector", "value"], more);
  return (part: Parts): Meaning => (isNot(part) && part("noun") === "" ? textOrValue(part) : read(part));
};

function textOrValue(part: Parts): Meaning {
  const not = isNot(part) ? "does not have" : "has";
  return {
    reason: "say whether it is the element's text or the field's value",
    nearest: ["text", "value"].map((what) => `check "${part("name")}" ${not} ${what} "${part("value")}"`),
  };
}

const counted =
  (bound: "count" | "min" | "max") =>
  (part: Parts): Meaning => {
    const said = part("count").toLowerCase();
    const params = { selector: part("name"), [bound]: numbers[said] ?? Number(said) };
    return check("element_count", params, isNot(part));
  };

const thereAre = `${maybeVerb}(?:there (?:is|are|should be|must be) )`;

const countPhrases: readonly Phrase[] = [
  phrase(
    'check the number of "X" is 3',
    `${maybeVerb}(?:the )?(?:count|number) of {name:quoted} (?:${is}${not}|equals)(?: exactly)? ${number}`,
    counted("count"),
  ),
  phrase(
    'check there are 3 "X"',
    `(?:${thereAre}|${maybeVerb}(?:should see )?)(?:exactly )?${number} {name:quoted}(?: elements?)?(?: (?:is|are|be) (?:visible|shown|displayed|there))?`,
    counted("count"),
  ),
  phrase(
    'check "X" appears 3 times',
    `${maybeVerb}{name:quoted} appears?(?: exactly)? ${number} times`,
    counted("count"),
  ),
  phrase('check there are at least 3 "X"', `${thereAre}at least ${number} {name:quoted}`, counted("min")),
  phrase(
    'check there are at most 3 "X"',
    `${thereAre}(?:at most|up to) ${number} {name:quoted}`,
    counted("max"),
  ),
];

const ofKinds = [
  { what: "text", sample: "T" },
  { what: "value", sample: "V" },
];
const ofPhrases: readonly Phrase[] = ofKinds.flatMap(({ what, sample }) => [
  phrase(
    `check the ${what} of "X" is "${sample}"`,
    `${maybeVerb}(?:the )?${what} of {name} (?:${is}${not}|${may}${equal})${exactly} {${what}}`,
    checking(`element_${what}`, ["selector", what]),
  ),
  phrase(
    `check the ${what} of "X" contains "${sample}"`,
    `${maybeVerb}(?:the )?${what} of {name} ${may}${contains} {${what}}`,
    checking(`element_${what}`, ["selector", what], partly),
  ),
]);

const holdPhrases: readonly Phrase[] = [
  ...ofPhrases,
  phrase(
    'check "X" has text "T"',
    `${maybeVerb}{name} ${may}(?:${has}|${equal})${exactly}${textNoun} {text}`,
    checking("element_text", ["selector", "text"]),
  ),
  phrase(
    'check "X" contains text "T"',
    `${maybeVerb}{name} ${may}${contains}${textNoun} {text}`,
    checking("element_text", ["selector", "text"], partly),
  ),
  phrase(
    'check "X" shows "T"',
    `${maybeVerb}{name} ${may}(?:shows?|reads?|displays?)${exactly} {text}`,
    checking("element_text", ["selector", "text"]),
  ),
  phrase(
    'check "X" has value "V"',
    `${maybeVerb}{name} ${may}(?:has|have|holds?|${equal})${exactly}${valueNoun}? {value}`,
    holdingValue(),
  ),
  phrase(
    'check "X" has value "V"',
    `${maybeVerb}{name} value ${is}${not}${exactly} {value}`,
    checking("element_value", ["selector", "value"]),
  ),
  phrase(
    'check "X" contains "V"',
    `${maybeVerb}{name} ${may}${contains}${valueNoun}? {value}`,
    holdingValue(partly),
  ),
  phrase(
    'check "X" has text "T"',
    `${maybeVerb}{name} (?:${is}${not}${exactly}|=+) {value:quoted}`,
    textOrValue,
  ),
  phrase(
    'check "X" has attribute "A" with value "V"',
    `${maybeVerb}{name} ${may}(?:has|have)(?: an?| the)? attribute {attribute}(?:(?: with)?(?: the)? value| of| equal to| =) {value}`,
    checking("element_attribute", ["selector", "attribute", "value"]),
  ),
  phrase(
    'check "X" has placeholder "T"',
    `${maybeVerb}{name} ${may}(?:has|have)(?: an?| the)? placeholder {value}`,
    (part) => {
      const params = { selector: selectorOf(part), attribute: "placeholder", value: part("value") };
      return check("element_attribute", params, isNot(part));
    },
  ),
  phrase(
    'check "X" has focus',
    `${maybeVerb}{name} ${may}(?:has|have)(?: the)? focus`,
    checking("element_focused", ["selector"]),
  ),
  phrase(
    'check "X" is between 1 and 5',
    `${maybeVerb}{name} ${is}${not} between ${amount("min")} and ${amount("max")}`,
    between,
  ),
  phrase('check "X" is at least 3', `${maybeVerb}{name} ${is}${not} at least ${amount("min")}`, between),
  phrase('check "X" is at most 3', `${maybeVerb}{name} ${is}${not} at most ${amount("max")}`, between),
];

function between(part: Parts): Meaning {
  const limits = ["min", "max"].filter((name) => part(name) !== "");
  const given = Object.fromEntries(limits.map((name) => [name, Number(part(name))]));
  return check("value_between", { selector: selectorOf(part), ...given }, isNot(part));
}

export const contentPhrases: readonly Phrase[] = [...countPhrases, ...holdPhrases];
