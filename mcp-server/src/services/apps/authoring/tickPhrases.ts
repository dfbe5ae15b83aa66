import { selectorOf } from "./ordinals.ts";
import { action, type Meaning, type Phrase, phrase } from "./phrase.ts";
import { quotedMark } from "./sentences.ts";
import type { Parts, Vocabulary } from "./types.ts";

const box = "(?:check[- ]?box|box|radio(?: button)?|switch|toggle)";
const off = new Set(["uncheck", "untick", "unselect", "deselect", "off", "disable"]);

function sets(part: Parts, vocabulary: Vocabulary): Meaning {
  const checked = !off.has(part("how").toLowerCase());
  return action(vocabulary, "set_checked", { selector: selectorOf(part), checked });
}

/** Boxes and switches. "check" alone also begins what is looked at, so it needs the noun. */
export const tickPhrases: readonly Phrase[] = [
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
