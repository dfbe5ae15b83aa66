import { nearest } from "@labwright/controllers";
import { pausePhrase } from "./checkPhrases.ts";
import { keyPhrases, pressed } from "./keyPhrases.ts";
import { called } from "./labels.ts";
import { selectorOf } from "./ordinals.ts";
import {
  action,
  type Meaning,
  onElement,
  one,
  type Phrase,
  phrase,
  placeCalled,
  withoutNoun,
} from "./phrase.ts";
import { refusedPhrases } from "./refusedPhrases.ts";
import { dialogPhrases, screenPhrases, tabPhrases } from "./screenPhrases.ts";
import { quotedMark } from "./sentences.ts";
import { tickPhrases } from "./tickPhrases.ts";
import type { Parts, Vocabulary } from "./types.ts";

const on = "(?: on| sur| auf)?";
const go =
  "(?:(?:go|navigate|move|switch|return|get)(?: back)? to|open|visit|aller?(?: à| au| aux| sur)?|va(?: à| au| aux| sur)|ouvr(?:e|ir|ez)|geh(?:e)?(?: zu| zur| zum| auf)|öffne|navigiere(?: zu| zur| zum)?)";
const goTo = "(?:open|visit|go to|navigate to|browse to|load|ouvr(?:e|ir|ez)|öffne)";
const page = "(?:the )?(?:(?:page|url|address|site|website) )?";
const address = `${quotedMark}|[a-z][\\w+.-]*:\\S+`;
const click = "(?:click|tap|push|cliquer?|appuyer?|klicke?|tippe)";
const type = "(?:type|enter|write|input|put|insert|saisi[rs]|tape[rz]?|gib|schreibe?)";
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
    "(?:(?:go|navigate) )?back(?: to the (?:previous|last) (?:page|screen))?|press back|reviens|retour|geh(?:e)? zurück",
    (_, vocabulary) => action(vocabulary, "press_key", { key: "BACK" }),
  ),
  phrase("go forward", "(?:(?:go|navigate) )?forward", (_, vocabulary) =>
    action(vocabulary, "go_forward", {}),
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
  ...keyPhrases,
  ...addressPhrases(),
  ...tabPhrases,
  ...dialogPhrases,
  ...screenPhrases,
  phrase("go to NODE", `${go} {place:any}`, goes),
  phrase("open URL", `${goTo} ${page}(?<url>/\\S*)`, opens),
  onElement('choose "X"', "(?:select|choose|pick) {name}", "click_element"),
  ...refusedPhrases,
];

/** An address that stands for itself, in quotes or not. */
function addressPhrases(): Phrase[] {
  return [
    phrase(
      "open URL in a new tab",
      `${goTo} ${page}(?<url>${address}) in an? (?:new|other|another) tab`,
      (part, vocabulary) => action(vocabulary, "open_tab", { url: part("url") }),
    ),
    phrase("open URL", `${goTo} ${page}(?<url>[a-z][\\w+.-]*:\\S+)`, opens),
    // What is quoted may also be the label of a node.
    phrase("open URL", `${goTo} ${page}(?<url>${quotedMark})`, (part, vocabulary) =>
      /^(?:[a-z][\w+.-]*:\S|\{\{|\/)/i.test(part("url")) &&
      called(part("url"), vocabulary.places, ({ label }) => label).length === 0
        ? opens(part, vocabulary)
        : goes((name) => part(name === "place" ? "url" : name), vocabulary),
    ),
  ];
}

function opens(part: Parts, vocabulary: Vocabulary): Meaning {
  return action(vocabulary, opening(vocabulary), { url: part("url") });
}

/** A phone has no page to go to: it opens an address in the app that is there for it. */
function opening({ commands }: Vocabulary): string {
  const isPhone = commands?.has("open_deep_link") && !commands.has("navigate_to_url");
  return isPhone ? "open_deep_link" : "navigate_to_url";
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
    onElement(
      'long press "X"',
      `(?:long[- ]?(?:press|click|tap)|(?:press|tap|click) and hold)${on} {name}`,
      "long_press",
    ),
    phrase(
      "click at 10, 20",
      `(?:${click}) (?:at|on) (?:the )?(?:point |position )?\\(?(?<x>\\d{1,5})\\s*(?:,|and|/)\\s*(?<y>\\d{1,5})\\)?`,
      (part, vocabulary) => action(vocabulary, "tap_x_y", { x: Number(part("x")), y: Number(part("y")) }),
    ),
    phrase('click "X"', `(?:press|hit)${on} (?<name>${quotedMark})`, pressed),
    onElement('click "X"', `(?:${click}|(?:press|hit)(?!${on} ${quotedMark}$))${on} {name}`, "click_element"),
    phrase('click "X"', `(?:${click}|press)${on} (?:the |an? )?{name:any}`, quoteIt),
    phrase(
      'scroll down in "X"',
      "scroll (?:(?<direction>up|down|left|right) (?:in|inside|within|on) {name}|{target} (?<way>up|down|left|right))",
      (part, vocabulary) =>
        action(vocabulary, "scroll", {
          selector: selectorOf(part, part("name") === "" ? "target" : "name"),
          direction: `${part("direction")}${part("way")}`.toLowerCase(),
        }),
    ),
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
      "(?:(?:upload|attach)(?: the)?(?: file)?|(?:choose|select)(?: the| a)? file) {file} (?:to|into|in|on|with|using|via|at|for) {name}",
      (part, vocabulary) =>
        action(vocabulary, "upload_file", { selector: selectorOf(part), files: [part("file")] }),
    ),
    phrase('upload "FILE" to "X"', "(?:upload|attach)(?: the)?(?: file)? {file}", (part) => ({
      reason: `say which field takes the file, as in upload "${part("file")}" to "FIELD"`,
    })),
    phrase(
      'drag "X" to "Y"',
      "(?:drag(?: and drop)?|drop|move) {name} (?:on|onto|into|to|over) {target}",
      (part, vocabulary) =>
        action(vocabulary, "drag_and_drop", {
          selector: selectorOf(part),
          to_selector: selectorOf(part, "target"),
        }),
    ),
    phrase(
      'type "T" into "X"',
      `(?:${type}|fill(?: in)?|send) {text} ${into} {name}(?: ein)?`,
      (part, vocabulary) =>
        action(vocabulary, "input_text", { selector: selectorOf(part), text: part("text") }),
    ),
    phrase('type "T"', `(?:${type}|send keys)(?: the text)? {text}`, (part, vocabulary) =>
      action(vocabulary, "type_text", { text: part("text") }),
    ),
    phrase(
      'fill "X" with "T"',
      `(?:fill|set|remplir|fülle)(?: in| out)? (?:the )?(?:date |time |value of )?{name} (?:with|to|avec|mit) {text}`,
      (part, vocabulary) =>
        action(vocabulary, "input_text", { selector: selectorOf(part), text: part("text") }),
    ),
    onElement('clear "X"', "(?:clear|empty|erase|leere?|vider?) {name}", "input_text", { text: "" }),
    phrase(
      'select "OPTION" from "X"',
      `(?:select|choose|pick)(?: the)?(?: option| value)? {option} (?:in|from|as|for|under) {name}`,
      (part, vocabulary) =>
        action(vocabulary, "select_option", { selector: selectorOf(part), option: part("option") }),
    ),
    ...tickPhrases,
  ];
}

/** "login", "log in" and "log-in" are one word. */
const joined = (name: string) => name.toLowerCase().replace(/[\s-]/g, "");

/** A test case or a place of this name, else what is to be clicked. */
function session(part: Parts, vocabulary: Vocabulary): Meaning {
  const said = part("said");
  const isSaid = (name: string) => joined(name) === joined(said);
  const testcase = vocabulary.testcases.find(isSaid);
  if (testcase !== undefined) return one({ type: "call_testcase", testcase });
  const place = vocabulary.places.find(({ label }) => isSaid(label));
  if (place) return one({ type: "navigation", target: place.label });
  return action(vocabulary, "click_element", {
    selector: `${said.slice(0, 1).toUpperCase()}${said.slice(1)}`,
  });
}

function quoteIt(part: Parts): Meaning {
  const name = part("name");
  return name.includes('"')
    ? { reason: "one element is clicked, as it is called or by a selector", nearest: ['click "X"'] }
    : { reason: `what is clicked is given in quotes, as in click "${withoutNoun(name)}"` };
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
