import { pausePhrase } from "./checkPhrases.ts";
import {
  action,
  doing,
  type Meaning,
  one,
  type Phrase,
  phrase,
  placeCalled,
  selectorOf,
  theOneCalled,
  withoutNoun,
} from "./phrase.ts";
import { refusedPhrases } from "./refusedPhrases.ts";
import { dialogPhrases, keyPhrases, pressed, screenPhrases, tabPhrases } from "./screenPhrases.ts";
import { quotedMark } from "./sentences.ts";
import type { Parts, Vocabulary } from "./types.ts";

const on = "(?: on| sur| auf)?";
const go =
  "(?:(?:go|navigate|move|switch|return|get|head|jump)(?: back| over)? to|(?:take|bring) (?:me|us)(?: back)? to|go|show me|open|visit|aller?(?: à| au| aux| sur)?|va(?: à| au| aux| sur)|ouvr(?:e|ir|ez)|geh(?:e)?(?: zu| zur| zum| auf)|öffne|navigiere(?: zu| zur| zum)?)";
const goTo = "(?:open|visit|go to|navigate to|browse to|load|ouvr(?:e|ir|ez)|öffne)";
const page = "(?:the )?(?:(?:page|url|address|site|website) )?";
const address = `${quotedMark}|[a-z][\\w+.-]*:\\S+`;
const click = "(?:click|tap|push|follow|cliquer?|appuyer?|klicke?|tippe)";
const type = "(?:type|enter|write|input|put|insert|saisi[rs]|tape[rz]?|gib|schreibe?)";
const into = "(?:in|into|to|on|dans|en|ins|im)";

const pointerPhrases: readonly Phrase[] = [
  phrase('double click "X"', `double[- ]?(?:click|tap)${on} {name}`, doing("double_click", ["selector"])),
  phrase('right click "X"', `right[- ]?click${on} {name}`, doing("right_click", ["selector"])),
  phrase('hover over "X"', "(?:hover|mouse)(?: over| on)? {name}", doing("hover_element", ["selector"])),
  phrase(
    'move the mouse over "X"',
    "(?:move|point)(?: the)?(?: mouse| cursor| pointer)? (?:to|over|at|onto) {name:quoted}",
    doing("hover_element", ["selector"]),
  ),
  phrase(
    'long press "X"',
    `(?:long[- ]?(?:press|click|tap)|(?:press|tap|click) and hold)${on} {name}`,
    doing("long_press", ["selector"]),
  ),
  phrase(
    "click at 10, 20",
    `(?:${click}) (?:at|on) (?:the )?(?:point |position )?\\(?(?<x>\\d{1,5})\\s*(?:,|and|/)\\s*(?<y>\\d{1,5})\\)?`,
    (part) => action("tap_x_y", { x: Number(part("x")), y: Number(part("y")) }),
  ),
  phrase('click "X"', `(?:press|hit)${on} (?<name>${quotedMark})`, pressed),
  phrase(
    'click "X"',
    `(?:${click}|(?:press|hit)(?!${on} ${quotedMark}$))${on} {name}`,
    doing("click_element", ["selector"]),
  ),
  phrase('click "X"', `(?:${click}|press)${on} (?:the |an? )?{name:any}`, quoteIt),
  phrase(
    'scroll down in "X"',
    "scroll (?:(?<direction>up|down|left|right) (?:in|inside|within|on) {name}|{target} (?<way>up|down|left|right))",
    (part) => {
      const selector = selectorOf(part, part("name") === "" ? "target" : "name");
      return action("scroll", { selector, direction: `${part("direction")}${part("way")}`.toLowerCase() });
    },
  ),
  phrase(
    'scroll to "X"',
    "scroll(?: up| down)?(?: to| until)? {name}(?: (?:is|into) (?:visible|view|shown))?",
    doing("scroll_to_element", ["selector"]),
  ),
];

const fieldPhrases: readonly Phrase[] = [
  phrase(
    'upload "FILE" to "X"',
    "(?:(?:upload|attach)(?: the)?(?: file)?|(?:choose|select)(?: the| a)? file) {file} (?:to|into|in|on|with|using|via|at|for) {name}",
    (part) => action("upload_file", { selector: selectorOf(part), files: [part("file")] }),
  ),
  phrase('upload "FILE" to "X"', "(?:upload|attach)(?: the)?(?: file)? {file}", (part) => ({
    reason: `say which field takes the file, as in upload "${part("file")}" to "FIELD"`,
  })),
  phrase(
    'drag "X" to "Y"',
    "(?:drag(?: and drop)?|drop|move) {name} (?:on|onto|into|to|over) {target}",
    doing("drag_and_drop", ["selector", "to_selector"]),
  ),
  phrase(
    'type "T" into "X"',
    `(?:${type}|fill(?: in)?|send) {text} ${into} {name}(?: ein)?`,
    doing("input_text", ["selector", "text"]),
  ),
  phrase('type "T"', `(?:${type}|send keys)(?: the text)? {text}`, doing("type_text", ["text"])),
  phrase(
    'fill "X" with "T"',
    `(?:fill|set|remplir|fülle)(?: in| out)? (?:the )?(?:date |time |value of )?{name} (?:with|to|avec|mit) {text}`,
    doing("input_text", ["selector", "text"]),
  ),
  phrase(
    'clear "X"',
    "(?:clear|empty|erase|leere?|vider?) {name}",
    doing("input_text", ["selector"], { text: "" }),
  ),
  phrase(
    'select "OPTION" from "X"',
    `(?:select|choose|pick)(?: the)?(?: option| value)? {option} (?:in|from|as|for|under) {name}`,
    doing("select_option", ["selector", "option"]),
  ),
];

const box = "(?:check[- ]?box|box|radio(?: button)?|switch|toggle)";
const off = new Set(["uncheck", "untick", "unselect", "deselect", "off", "disable"]);

function sets(part: Parts): Meaning {
  const checked = !off.has(part("how").toLowerCase());
  return action("set_checked", { selector: selectorOf(part), checked });
}

/** Boxes and switches. "check" alone also begins a check, so it needs the noun. */
const tickPhrases: readonly Phrase[] = [
  phrase('tick "X"', "(?<how>uncheck|untick|unselect|deselect|tick) {name}", sets),
  phrase('check the box "X"', `(?<how>check) (?:the |this )?${box} (?<name>${quotedMark})`, sets),
  phrase('check the "X" box', `(?<how>check) (?:the |this )?(?<name>${quotedMark}) ${box}`, sets),
  phrase('turn on "X"', "(?:turn|switch|toggle) (?<how>on|off) {name}", sets),
  phrase('turn "X" on', "(?:turn|switch|toggle) {name} (?<how>on|off)", sets),
  phrase('enable "X"', "(?<how>enable|disable) {name}", sets),
  phrase('tick "X"', "check {name}", (part) => ({
    reason: "say whether it is ticked or looked at",
    nearest: [`tick "${part("name")}"`, `check "${part("name")}" is shown`, `check text "${part("name")}"`],
  })),
  phrase('turn on "X"', "toggle {name}", (part) => ({
    reason: "say which of the two it shall be",
    nearest: [`turn on "${part("name")}"`, `turn off "${part("name")}"`],
  })),
];

const addressPhrases: readonly Phrase[] = [
  phrase(
    "open URL in a new tab",
    `${goTo} ${page}(?<url>${address}) in an? (?:new|other|another) tab`,
    doing("open_tab", ["url"]),
  ),
  phrase("open URL", `${goTo} ${page}(?<url>[a-z][\\w+.-]*:\\S+)`, opens),
  // What is quoted may also be the label of a node.
  phrase("open URL", `${goTo} ${page}(?<url>${quotedMark})`, (part, vocabulary) => {
    const isNode = !/^no node/.test(reasonOf(placeCalled(part("url"), vocabulary)) ?? "");
    const isAddress = /^(?:[a-z][\w+.-]*:\S|\{\{|\/)/i.test(part("url"));
    return isAddress && !isNode ? opens(part, vocabulary) : goes(() => part("url"), vocabulary);
  }),
];

const reasonOf = (meaning: object) => ("reason" in meaning ? String(meaning.reason) : undefined);

/** The first phrase that fits and has a meaning here wins. */
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
    doing("press_key", [], { key: "BACK" }),
  ),
  phrase("go forward", "(?:(?:go|navigate) )?forward", doing("go_forward")),
  phrase(
    "reload the page",
    "(?:reload|refresh)(?: the)?(?: page| screen| app)?|actualise[rz]?(?: la page)?|lade?(?: die)? seite neu",
    doing("reload"),
  ),
  phrase(
    "scroll to the bottom",
    "scroll(?: up| down)?(?: to)?(?: the)?(?: very)? (?<end>top|bottom|end)(?: of the page)?",
    (part) => action("scroll", { direction: part("end").toLowerCase() === "top" ? "top" : "bottom" }),
  ),
  phrase("scroll down", "scroll(?: the page)? (?<direction>up|down|left|right)", (part) =>
    action("scroll", { direction: part("direction").toLowerCase() }),
  ),
  ...pointerPhrases,
  ...fieldPhrases,
  ...tickPhrases,
  ...keyPhrases,
  ...addressPhrases,
  ...tabPhrases,
  ...dialogPhrases,
  ...screenPhrases,
  phrase("go to NODE", `${go} {place:any}`, goes),
  phrase("open URL", `${goTo} ${page}(?<url>/\\S*)`, opens),
  phrase('choose "X"', "(?:select|choose|pick) {name}", doing("click_element", ["selector"])),
  ...refusedPhrases,
];

/** A phone has no page to go to: it opens an address in the app that handles it. */
function opens(part: Parts, { commands }: Vocabulary): Meaning {
  const isPhone = commands?.has("open_deep_link") && !commands.has("navigate_to_url");
  return action(isPhone ? "open_deep_link" : "navigate_to_url", { url: part("url") });
}

/** "login", "log in" and "log-in" are one word. */
const joined = (name: string) => name.toLowerCase().replace(/[\s-]/g, "");

function session(part: Parts, vocabulary: Vocabulary): Meaning {
  const said = part("said");
  const isSaid = (name: string) => joined(name) === joined(said);
  const testcase = vocabulary.testcases.find(isSaid);
  if (testcase !== undefined) return one({ type: "call_testcase", testcase });
  const place = vocabulary.places.find(({ label }) => isSaid(label));
  if (place) return one({ type: "navigation", target: place.label });
  return action("click_element", { selector: `${said.slice(0, 1).toUpperCase()}${said.slice(1)}` });
}

function quoteIt(part: Parts): Meaning {
  const name = part("name");
  const isAboutQuotes = true;
  return name.includes('"')
    ? {
        reason: "one element is clicked, as it is called or by a selector",
        nearest: ['click "X"'],
        isAboutQuotes,
      }
    : { isAboutQuotes, reason: `what is clicked is given in quotes, as in click "${withoutNoun(name)}"` };
}

function goes(part: Parts, vocabulary: Vocabulary): Meaning {
  const place = placeCalled(part("place"), vocabulary);
  return "reason" in place ? place : one({ type: "navigation", target: place.found.label });
}

function calls(part: Parts, { testcases }: Vocabulary): Meaning {
  const test = theOneCalled(part("name"), testcases, (name) => name, ["test case", "test cases"]);
  return "reason" in test ? test : one({ type: "call_testcase", testcase: test.found });
}
