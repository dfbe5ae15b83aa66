import { selectorOf } from "./ordinals.ts";
import { action, type Meaning, type Phrase, phrase } from "./phrase.ts";
import type { Parts, Vocabulary } from "./types.ts";

const press = "(?:press|hit|drücke?|appuyer? sur)";
const key =
  "(?: the| la| die)?(?: key)? (?<key>(?:(?:arrow|page) )?[\\w]{1,30}(?: ?\\+ ?[\\w]{1,30})*|(?:up|down|left|right) arrow|[^\\w\\s\\u0001])(?: key)?";

/** Keys that nobody takes for a button. */
const plainKeys =
  /^(?:enter|return|tab|esc(?:ape)?|backspace|arrow ?\w+|page ?(?:up|down)|f\d{1,2}|(?:ctrl|control|alt|shift|meta|cmd)\b.*)$/i;
/** Keys that also stand on remotes and phones, with those that only their drivers know, in capitals. */
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

function presses(part: Parts, vocabulary: Vocabulary): Meaning {
  const said = part("key");
  if (!isKey(said)) return { reason: `"${said}" is not a key`, nearest: [`click "${said}"`, "press ENTER"] };
  const count =
    part("often") === "" ? undefined : (counts[part("often").toLowerCase()] ?? Number(part("times")));
  const more = {
    ...(count !== undefined && { count }),
    ...(part("name") !== "" && { selector: selectorOf(part) }),
  };
  return action(vocabulary, "press_key", { key: keyNamed(said), ...more });
}

/** A quoted key may be a button of this name: nothing is guessed. */
export function pressed(part: Parts, vocabulary: Vocabulary): Meaning {
  const said = part("name");
  if (!plainKeys.test(said)) return action(vocabulary, "click_element", { selector: said });
  return { reason: "say whether it is the key or an element", nearest: [`press ${said}`, `click "${said}"`] };
}

export const keyPhrases: readonly Phrase[] = [
  phrase("press KEY", `${press}${key}`, presses),
  phrase("press KEY 3 times", `${press}${key} (?<often>once|twice|(?<times>\\d{1,3}) times)`, presses),
  phrase('press KEY in "X"', `${press}${key} (?:in|on|inside|at) {name}`, presses),
];
