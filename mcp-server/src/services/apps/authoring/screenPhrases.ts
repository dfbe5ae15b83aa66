import { ordinal, placeOf } from "./ordinals.ts";
import { action, type Meaning, type Phrase, phrase } from "./phrase.ts";
import { quotedMark } from "./sentences.ts";
import type { Parts, Vocabulary } from "./types.ts";

/** Tabs of a browser. */
export const tabPhrases: readonly Phrase[] = [
  phrase("open a new tab", "open (?:a |an? )?(?:new|another|other) (?:browser )?tab", (_, vocabulary) =>
    action(vocabulary, "open_tab", {}),
  ),
  phrase("close the tab", "close (?:the|this)(?: current)? (?:browser )?tab", (_, vocabulary) =>
    action(vocabulary, "close_tab", {}),
  ),
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

function switches(part: Parts, vocabulary: Vocabulary): Meaning {
  const place = Number(placeOf(part("place")));
  // They are counted from 0, and how many there are is seen when it runs.
  if (Number.isInteger(place)) return action(vocabulary, "switch_tab", { tab: place - 1 });
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
    (part, vocabulary) =>
      action(vocabulary, "handle_dialog", { accept: /^(?:accept|confirm)$/i.test(part("how")) }),
  ),
  phrase(
    'answer the next prompt with "T"',
    `(?:answer|accept|confirm|fill) (?:the )?next ${dialog} with (?<text>${quotedMark})`,
    (part, vocabulary) => action(vocabulary, "handle_dialog", { accept: true, prompt_text: part("text") }),
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

const alone = (form: string, text: string, command: string, params = {}): Phrase =>
  phrase(form, text, (_, vocabulary) => action(vocabulary, command, params));

/** The app and the screen of a device. */
export const screenPhrases: readonly Phrase[] = [
  alone("open the app", "(?:open|start|launch) (?:the|this) app", "open_app", { app: "{{app}}" }),
  alone("close the app", "(?:close|quit|stop) (?:the|this) app", "close_app", { app: "{{app}}" }),
  alone("hide the keyboard", "(?:hide|close|dismiss) (?:the )?keyboard", "hide_keyboard"),
  phrase(
    "rotate to landscape",
    "(?:rotate|turn)(?: the)?(?: screen| device| phone)? to (?<to>portrait|landscape)",
    (part, vocabulary) => action(vocabulary, "rotate", { to: part("to").toLowerCase() }),
  ),
];
