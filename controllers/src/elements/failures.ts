import { DeviceError } from "../errors.ts";
import { quoted } from "./quoted.ts";
import type { ParsedSelector } from "./selectors.ts";
import { withinAnother } from "./text.ts";

/** What an error ends with that names the nearest. */
export function orNearest(nearest: readonly string[]): string {
  return nearest.length > 0 ? `; nearest: ${nearest.join(" · ")}` : "";
}

type Search = {
  afterMs: number;
  /** How it was searched, where that says more than the time: ` after scrolling …`. */
  searched?: string | undefined;
  /** Texts of the screen, to say that the wanted one is only a part of another word. */
  texts?: readonly string[];
  /** Selectors of what is on the screen, best first. */
  nearest: readonly string[];
  /** What else must be known of the screen, such as a dialog that covers it. */
  notices?: readonly string[];
};

/** ELEMENT_NOT_FOUND. */
export function notFound(
  parsed: ParsedSelector,
  selector: string,
  { afterMs, searched = ` after ${Math.round(afterMs)} ms`, texts = [], nearest, notices = [] }: Search,
): DeviceError {
  const hint = otherReading(parsed, selector) ?? orNearest(nearest);
  return new DeviceError(
    "ELEMENT_NOT_FOUND",
    `Nothing matches ${JSON.stringify(selector)}${searched}${asPart(parsed, [...texts, ...nearest])}${hint || "; dump_ui_elements shows what is there"}${asEnding(notices)}`,
    { selector, nearest },
  );
}

/** That what was looked for is there, but only within another word or number. */
function asPart(parsed: ParsedSelector, texts: readonly string[]): string {
  const wanted = parsed.kind === "role" ? parsed.name : "text" in parsed ? parsed.text : undefined;
  if (wanted === undefined || !/^(same|words)$/.test(wanted.match)) return "";
  const whole = withinAnother(wanted.text, texts);
  if (whole === undefined) return "";
  return `; it is there only as part of another word or number: ${quoted(whole)}; use *= if you mean it`;
}

/** The end of an error that says what the screen shows. */
export const asEnding = (notices: readonly string[]): string => notices.map((one) => `; ${one}`).join("");

/** ELEMENT_AMBIGUOUS. `candidates` say for each, up to six, its ref, what it is and how it differs from the others. */
export function ambiguous(selector: string, count: number, candidates: readonly string[]): DeviceError {
  return new DeviceError(
    "ELEMENT_AMBIGUOUS",
    `${count} elements match ${JSON.stringify(selector)}; use the ref of one: ${candidates.join(" · ")}`,
    { selector, candidates },
  );
}

/** What else a bare selector may stand for. */
function otherReading(parsed: ParsedSelector, selector: string): string | undefined {
  if (parsed.kind === "any" && /^\[\S|\s>\s/.test(selector))
    return `; a CSS selector is written css=${selector}`;
  const isBare = /^\s*[#.]/.test(selector) && parsed.kind === "css";
  return isBare
    ? `; it was read as CSS: a name or text is written in quotes, ${JSON.stringify(selector)}`
    : undefined;
}
