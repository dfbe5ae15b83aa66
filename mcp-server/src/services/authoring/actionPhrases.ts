import { nearest } from "@labwright/controllers";
import { pausePhrase } from "./checkPhrases.ts";
import { called } from "./labels.ts";
import { action, type Meaning, one, type Parts, type Phrase, phrase, placeCalled } from "./phrase.ts";
import type { Vocabulary } from "./types.ts";

const on = "(?: on| sur| auf)?";
const go =
  "(?:(?:go|navigate|move|switch|return|get)(?: back)? to|open|visit|aller?(?: à| au| aux| sur)?|va(?: à| au| aux| sur)|ouvr(?:e|ir|ez)|geh(?:e)?(?: zu| zur| zum| auf)|öffne|navigiere(?: zu| zur| zum)?)";
const click = "(?:click|tap|push|cliquer?|appuyer?|klicke?|tippe)";
const type = "(?:type|enter|write|input|put|saisi[rs]|tape[rz]?|gib|schreibe?)";
const into = "(?:in|into|to|on|dans|en|ins|im)";

/** What is done. */
export const actionPhrases: readonly Phrase[] = [
  pausePhrase,
  phrase(
    "(?:call|run|execute|lance[rz]?|appelle[rz]?|starte)(?: the| le| den)?(?: test ?case| test| testfall| cas de test) {name:any}",
    calls,
  ),
  phrase("go back|press back|reviens|retour|geh(?:e)? zurück", (_, vocabulary) =>
    action(vocabulary, "press_key", { key: "BACK" }),
  ),
  ...elementPhrases(),
  phrase(
    `(?:press|hit|drücke?|appuyer? sur)(?: the| la| die)?(?: key)? (?<key>[\\w+]{1,30})(?: key)?`,
    (part, vocabulary) => action(vocabulary, "press_key", { key: part("key") }),
  ),
  phrase(`(?:open|visit|go to|navigate to|ouvr(?:e|ir|ez)|öffne) (?<url>https?://\\S+)`, (part, vocabulary) =>
    action(vocabulary, "navigate_to_url", { url: part("url") }),
  ),
  phrase(`${go} {place:any}`, goes),
];

function elementPhrases(): Phrase[] {
  const onElement = (text: string, command: string) =>
    phrase(text, (part, vocabulary) => action(vocabulary, command, { selector: part("name") }));
  return [
    onElement(`double[- ]?click${on} {name}`, "double_click"),
    onElement(`right[- ]?click${on} {name}`, "right_click"),
    onElement("hover(?: over)? {name}", "hover_element"),
    onElement(`(?:${click}|press)${on} {name}`, "click_element"),
    phrase(`(?:${click}|press)${on} {name:any}`, quoteIt),
    phrase(`${type} {text} ${into} {name}(?: ein)?`, (part, vocabulary) =>
      action(vocabulary, "input_text", { selector: part("name"), text: part("text") }),
    ),
    phrase(`(?:fill|remplir|fülle)(?: in)? {name} (?:with|avec|mit) {text}`, (part, vocabulary) =>
      action(vocabulary, "input_text", { selector: part("name"), text: part("text") }),
    ),
    phrase(`(?:select|choose|pick) {option} (?:in|from) {name}`, (part, vocabulary) =>
      action(vocabulary, "select_option", { selector: part("name"), option: part("option") }),
    ),
    phrase("(?<un>un)?(?:tick|check) {name}", (part, vocabulary) =>
      action(vocabulary, "set_checked", { selector: part("name"), checked: part("un") === "" }),
    ),
  ];
}

function quoteIt(part: Parts): Meaning {
  return { reason: `what is clicked is given in quotes, as in click "${part("name")}"` };
}

function goes(part: Parts, vocabulary: Vocabulary): Meaning {
  const place = placeCalled(part("place"), vocabulary);
  return "reason" in place ? place : one({ type: "navigation", target: place.label });
}

function calls(part: Parts, { testcases }: Vocabulary): Meaning {
  const found = called(part("name"), testcases, (name) => name);
  const [testcase] = found;
  if (testcase !== undefined && found.length === 1) return one({ type: "call_testcase", testcase });
  const near = found.length > 1 ? found : nearest(part("name"), testcases, 3);
  const reason = `${found.length > 1 ? "several test cases are" : "no test case is"} called "${part("name")}"`;
  return { reason, ...(near.length > 0 && { nearest: near }) };
}
