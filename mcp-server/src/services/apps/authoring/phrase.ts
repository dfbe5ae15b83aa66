import { nearest } from "@labwright/controllers";
import type { Params } from "../../../domain/index.ts";
import { called } from "./labels.ts";
import { ordinal, selectorOf } from "./ordinals.ts";
import { quotedMark, type Sentence, unmark } from "./sentences.ts";
import type { Draft, NotUnderstood, Parts, Place, Step, Vocabulary } from "./types.ts";

export type Meaning = Omit<Step, "said"> | Omit<NotUnderstood, "line">;

/** `form` is how the phrase is shown to those who do not know it. */
export type Phrase = { pattern: RegExp; form: string; read(part: Parts, vocabulary: Vocabulary): Meaning };

const article = "(?:the |an? |le |la |les |l'|der |die |das |den )?";
const kindOf = "(?:(?:text|radio|check|combo|list|drop-?down|input|file|menu|date|search)[- ]?)";
const element =
  "(?:button|link|tab|field|box|checkbox|switch|toggle|menu|item|option|icon|image|entry|list|input|area|dropdown|heading|label|bouton|lien|champ|feld|knopf|schaltfläche)";
const nounBefore = `(?:${kindOf}?${element} )?`;
const noun = `(?: ${kindOf}?(?:${element}|boxes|buttons|items|links|row|rows))?`;
/** Parts that name an element: its noun may stand before it, too. Before a text it would say something else. */
const elements = new Set(["name", "target"]);

/**
 * A phrase is a whole sentence, in any case. `{name}` is a quoted part, with the article, the ordinal and the noun that
 * people put around it; `{name:any}` is any words.
 */
export function phrase(form: string, text: string, read: Phrase["read"]): Phrase {
  const source = text
    .replace(
      /\{(\w+)\}/g,
      (_, name: string) =>
        `${article}(?:(?<${name}Place>${ordinal}) )?${elements.has(name) ? nounBefore : ""}(?<${name}>${quotedMark})${noun}`,
    )
    .replace(/\{(\w+):any\}/g, "(?<$1>.+?)");
  return { pattern: new RegExp(`^(?:${source})$`, "iu"), form, read };
}

export const partsOf =
  (match: RegExpExecArray, sentence: Sentence): Parts =>
  (name) => {
    const found = match.groups?.[name];
    return found === undefined ? "" : unmark({ ...sentence, text: found });
  };

export const one = (draft: Draft): Meaning => ({ drafts: [draft] });

export function action({ commands }: Vocabulary, command: string, params: Params): Meaning {
  return missing(commands, command, "command") ?? one({ type: "action", command, params });
}

export function check(
  { checks }: Vocabulary,
  command: string,
  params: Params,
  more: { negate?: boolean; timeout_ms?: number } = {},
): Meaning {
  const { negate, ...rest } = more;
  const draft: Draft = { type: "verification", command, params, ...(negate && { negate }), ...rest };
  return missing(checks, command, "check") ?? one(draft);
}

function missing(
  known: ReadonlySet<string> | undefined,
  name: string,
  what: "command" | "check",
): Meaning | undefined {
  if (!known || known.has(name)) return undefined;
  const near = nearest(name, known, 3);
  return { reason: `the device has no ${what} ${name}`, ...(near.length > 0 && { nearest: near }) };
}

/** The place that is meant, or why none is. */
export function placeCalled(said: string, { places }: Vocabulary): Place | Omit<NotUnderstood, "line"> {
  const found = called(said, places, ({ label }) => label);
  const [place] = found;
  if (place && found.length === 1) return place;
  const labels = places.map(({ label }) => label);
  const near = found.length > 1 ? found.map(({ label }) => label) : nearest(said, labels, 3);
  const reason = found.length > 1 ? `several nodes are called "${said}"` : `no node is called "${said}"`;
  return { reason, ...(near.length > 0 && { nearest: near }) };
}

/** A command on the element that is named. */
export function onElement(form: string, text: string, command: string, more: Params = {}): Phrase {
  return phrase(form, text, (part, vocabulary) =>
    action(vocabulary, command, { selector: selectorOf(part), ...more }),
  );
}

/** A name without the noun that people put behind it. */
export const withoutNoun = (name: string): string => name.replace(new RegExp(`${noun}$`, "iu"), "");
