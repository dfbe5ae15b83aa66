import { action, doing, type Meaning, ordinal, type Phrase, phrase, placeOf, selectorOf } from "./phrase.ts";
import { quotedMark } from "./sentences.ts";
import type { Parts } from "./types.ts";

const press = "(?:press|hit|drücke?|appuyer? sur)";
const key =
  "(?: the| la| die)?(?: key)? (?<key>(?:(?:arrow|page) )?[\\w]{1,30}(?: ?\\+ ?[\\w]{1,30})*|(?:up|down|left|right) arrow|[^\\w\\s\\u0001])(?: key)?";

/** Keys that no button is named after. */
const plainKeys =
  /^(?:enter|return|tab|esc(?:ape)?|backspace|arrow ?\w+|page ?(?:up|down)|f\d{1,2}|(?:ctrl|control|alt|shift|meta|cmd)\b.*)$/i;
/** Keys of remotes and phones; in capitals those that only a driver knows. */
const otherKeys =
  /^(?:.|[A-Z\d_]+|space(?:bar)?|del(?:ete)?|insert|home|end|up|down|left|right|ok|back|menu|play|pause|stop|power|mute|volume_?(?:up|down)|\w+\+.*|(?:up|down|left|right) arrow)$/;
const isKey = (said: string) =>
  plainKeys.test(said) || otherKeys.test(said) || otherKeys.test(said.toLowerCase());

/** `arrow down` and `CTRL + A` as drivers know them. */
const keyNamed = (said: string) =>
  said
    .replace(/^arrow (\w+)$|^(\w+) arrow$/i, (_, after?: string, before?: string) =>
      (after ?? before ?? "").toUpperCase(),
    )
    .replace(
      /^page (\w)(\w*)$/i,
      (_, first: string, rest: string) => `Page${first.toUpperCase()}${rest.toLowerCase()}`,
    )
    .replace(/\s*\+\s*/g, "+");

const counts: Readonly<Record<string, number>> = { once: 1, twice: 2 };

function presses(part: Parts): Meaning {
  const said = part("key");
  if (!isKey(said)) return { reason: `"${said}" is not a key`, nearest: [`click "${said}"`, "press ENTER"] };
  const count =
    part("often") === "" ? undefined : (counts[part("often").toLowerCase()] ?? Number(part("times")));
  const more = {
    ...(count !== undefined && { count }),
    ...(part("name") !== "" && { selector: selectorOf(part) }),
  };
  return action("press_key", { key: keyNamed(said), ...more });
}

/** A quoted key may be a button of this name, so it is not guessed. */
export function pressed(part: Parts): Meaning {
  const said = part("name");
  if (!plainKeys.test(said)) return action("click_element", { selector: said });
  return { reason: "say whether it is the key or an element", nearest: [`press ${said}`, `click "${said}"`] };
}

export const keyPhrases: readonly Phrase[] = [
  phrase("press KEY", `${press}${key}`, presses),
  phrase("press KEY 3 times", `${press}${key} (?<often>once|twice|(?<times>\\d{1,3}) times)`, presses),
  phrase('press KEY in "X"', `${press}${key} (?:in|on|inside|at) {name}`, presses),
];

export const tabPhrases: readonly Phrase[] = [
  phrase("open a new tab", "open (?:a |an? )?(?:new|another|other) (?:browser )?tab", doing("open_tab")),
  phrase("close the tab", "close (?:the|this)(?: current)? (?:browser )?tab", doing("close_tab")),
  phrase(
    "switch to the second tab",
    `(?:switch|go|change|move)(?: back)? to (?:the )?(?<place>${ordinal}) (?:browser )?tab`,
    switches,
  ),
  phrase("switch to the second tab", "(?:switch|go|change|move)(?: back)? to (?:the )?.*\\btab\\b.*", () => ({
    reason: "a tab is chosen by its position",
    nearest: ["switch to the second tab", "switch_tab: { tab: 1 }"],
  })),
];

function switches(part: Parts): Meaning {
  const place = Number(placeOf(part("place")));
  // Counted from 0. How many there are is known only when it runs.
  if (Number.isInteger(place)) return action("switch_tab", { tab: place - 1 });
  return {
    reason: "a tab is chosen by its position, counted from the first",
    nearest: ["switch to the second tab"],
  };
}

const dialog = "(?:dialog|alert|prompt|confirm(?:ation)?)(?: dialog| box)?";

/** Dialogs of the page itself are answered before they open. */
export const dialogPhrases: readonly Phrase[] = [
  phrase(
    "accept the next dialog",
    `(?<how>accept|confirm|dismiss|cancel|decline) (?:the )?next ${dialog}`,
    (part) => action("handle_dialog", { accept: /^(?:accept|confirm)$/i.test(part("how")) }),
  ),
  phrase(
    'answer the next prompt with "T"',
    `(?:answer|accept|confirm|fill) (?:the )?next ${dialog} with (?<text>${quotedMark})`,
    (part) => action("handle_dialog", { accept: true, prompt_text: part("text") }),
  ),
  phrase(
    "accept the next dialog",
    `(?:answer|accept|confirm|dismiss|cancel|decline|close|(?:click|press|tap) .+ (?:in|on)) (?:the|an?) ${dialog}(?: with .+)?`,
    () => ({
      reason: "the answer is given before the step that opens the dialog",
      nearest: ["accept the next dialog", "dismiss the next dialog", 'answer the next prompt with "T"'],
    }),
  ),
];

export const screenPhrases: readonly Phrase[] = [
  phrase("open the app", "(?:open|start|launch) (?:the|this) app", doing("open_app", [], { app: "{{app}}" })),
  phrase("close the app", "(?:close|quit|stop) (?:the|this) app", doing("close_app", [], { app: "{{app}}" })),
  phrase("hide the keyboard", "(?:hide|close|dismiss) (?:the )?keyboard", doing("hide_keyboard")),
  phrase(
    "rotate to landscape",
    "(?:rotate|turn)(?: the)?(?: screen| device| phone)? to (?<to>portrait|landscape)",
    (part) => action("rotate", { to: part("to").toLowerCase() }),
  ),
];
