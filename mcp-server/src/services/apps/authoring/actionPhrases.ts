import { nearest } from "@labwright/controllers";
import type { Params } from "../../../domain/index.ts";
import { pausePhrase } from "./checkPhrases.ts";
import { called } from "./labels.ts";
import { selectorOf } from "./ordinals.ts";
import { action, type Meaning, one, type Phrase, phrase, placeCalled } from "./phrase.ts";
import type { Parts, Vocabulary } from "./types.ts";

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
    "call test NAME",
    "(?:call|run|execute|lance[rz]?|appelle[rz]?|starte)(?: the| le| den)?(?: test ?case| test| testfall| cas de test) {name:any}",
    calls,
  ),
  phrase(
    "log out",
    "(?<said>(?:log|sign)[ -]?(?:in|out|off|on|up))(?: of| from| to| on| at| the| app| site| page)*",
    session,
  ),
  phrase(
    "go back",
    "(?:go|navigate) back(?: to the (?:previous|last) (?:page|screen))?|press back|reviens|retour|geh(?:e)? zurück",
    (_, vocabulary) => action(vocabulary, "press_key", { key: "BACK" }),
  ),
  phrase(
    "reload the page",
    "(?:reload|refresh)(?: the)?(?: page| screen| app)?|actualise[rz]?(?: la page)?|lade?(?: die)? seite neu",
    (_, vocabulary) => action(vocabulary, "reload", {}),
  ),
  phrase(
    "scroll to the bottom",
    "scroll(?: up| down)?(?: to)?(?: the)?(?: very)? (?<end>top|bottom|end)(?: of the page)?",
    (part, vocabulary) =>
      action(vocabulary, "scroll", { direction: part("end").toLowerCase() === "top" ? "top" : "bottom" }),
  ),
  phrase("scroll down", "scroll(?: the page)? (?<direction>up|down|left|right)", (part, vocabulary) =>
    action(vocabulary, "scroll", { direction: part("direction").toLowerCase() }),
  ),
  ...pointerPhrases(),
  ...fieldPhrases(),
  phrase(
    "press KEY",
    `(?:press|hit|drücke?|appuyer? sur)(?: the| la| die)?(?: key)? (?<key>[\\w+]{1,30})(?: key)?`,
    (part, vocabulary) => action(vocabulary, "press_key", { key: part("key") }),
  ),
  phrase(
    "open URL",
    `(?:open|visit|go to|navigate to|ouvr(?:e|ir|ez)|öffne) (?<url>https?://\\S+)`,
    (part, vocabulary) => action(vocabulary, opening(vocabulary), { url: part("url") }),
  ),
  phrase("go to NODE", `${go} {place:any}`, goes),
  phrase(
    'choose "X"',
    "(?:select|choose|pick|close|expand|collapse|dismiss|accept) {name}",
    (part, vocabulary) => action(vocabulary, "click_element", { selector: selectorOf(part) }),
  ),
];

/** A phone has no page to go to: it opens an address in the app that is there for it. */
const opening = ({ commands }: Vocabulary): string =>
  commands?.has("open_deep_link") && !commands.has("navigate_to_url") ? "open_deep_link" : "navigate_to_url";

function onElement(form: string, text: string, command: string, more: Params = {}): Phrase {
  return phrase(form, text, (part, vocabulary) =>
    action(vocabulary, command, { selector: selectorOf(part), ...more }),
  );
}

function pointerPhrases(): Phrase[] {
  return [
    onElement('double click "X"', `double[- ]?(?:click|tap)${on} {name}`, "double_click"),
    onElement('right click "X"', `right[- ]?click${on} {name}`, "right_click"),
    onElement('hover over "X"', "(?:hover|mouse)(?: over| on)? {name}", "hover_element"),
    onElement(
      'move the mouse over "X"',
      "(?:move|point)(?: the)?(?: mouse| cursor| pointer)? (?:to|over|at|onto) {name}",
      "hover_element",
    ),
    onElement('click "X"', `(?:${click}|press|hit)${on} {name}`, "click_element"),
    phrase('click "X"', `(?:${click}|press)${on} {name:any}`, quoteIt),
    onElement(
      'scroll to "X"',
      "scroll(?: up| down)?(?: to| until)? {name}(?: (?:is|into) (?:visible|view|shown))?",
      "scroll_to_element",
    ),
  ];
}

function fieldPhrases(): Phrase[] {
  return [
    phrase(
      'upload "FILE" to "X"',
      "(?:upload|attach)(?: the)?(?: file)? {file} (?:to|into|in|on|with|using|via|at) {name}",
      (part, vocabulary) =>
        action(vocabulary, "upload_file", { selector: selectorOf(part), files: [part("file")] }),
    ),
    phrase('upload "FILE" to "X"', "(?:upload|attach)(?: the)?(?: file)? {file}", (part) => ({
      reason: `say which field takes the file, as in upload "${part("file")}" to "FIELD"`,
    })),
    phrase('drag "X" to "Y"', "drag(?: and drop)? {name} (?:on|in)?(?:to) {target}", (part, vocabulary) =>
      action(vocabulary, "drag_and_drop", {
        selector: selectorOf(part),
        to_selector: selectorOf(part, "target"),
      }),
    ),
    phrase('type "T" into "X"', `${type} {text} ${into} {name}(?: ein)?`, (part, vocabulary) =>
      action(vocabulary, "input_text", { selector: selectorOf(part), text: part("text") }),
    ),
    phrase('type "T"', `${type} {text}`, (part, vocabulary) =>
      action(vocabulary, "type_text", { text: part("text") }),
    ),
    phrase(
      'fill "X" with "T"',
      `(?:fill|set|remplir|fülle)(?: in| out)? {name} (?:with|to|avec|mit) {text}`,
      (part, vocabulary) =>
        action(vocabulary, "input_text", { selector: selectorOf(part), text: part("text") }),
    ),
    onElement('clear "X"', "(?:clear|empty|erase|leere?|vider?) {name}", "input_text", { text: "" }),
    phrase(
      'select "OPTION" from "X"',
      `(?:select|choose|pick) {option} (?:in|from|as|for|under) {name}`,
      (part, vocabulary) =>
        action(vocabulary, "select_option", { selector: selectorOf(part), option: part("option") }),
    ),
    phrase('tick "X"', "(?<un>un)?(?:tick|check) {name}", (part, vocabulary) =>
      action(vocabulary, "set_checked", { selector: selectorOf(part), checked: part("un") === "" }),
    ),
    phrase('turn on "X"', "(?:turn|switch|toggle) (?<on>on|off) {name}", (part, vocabulary) =>
      action(vocabulary, "set_checked", {
        selector: selectorOf(part),
        checked: part("on").toLowerCase() === "on",
      }),
    ),
  ];
}

/** A test case or a place of this name, else what is to be clicked. */
function session(part: Parts, vocabulary: Vocabulary): Meaning {
  const said = part("said");
  const [testcase] = called(said, vocabulary.testcases, (name) => name);
  if (testcase !== undefined) return one({ type: "call_testcase", testcase });
  const [place] = called(said, vocabulary.places, ({ label }) => label);
  if (place) return one({ type: "navigation", target: place.label });
  return action(vocabulary, "click_element", {
    selector: `${said.slice(0, 1).toUpperCase()}${said.slice(1)}`,
  });
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
