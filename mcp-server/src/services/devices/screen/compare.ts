import type { Dump, Element, TextNews } from "@labwright/controllers";
import { estimateTokens } from "../../values/tokens.ts";
import { describeElement, quote } from "./describe.ts";
import { changedText, diffElements, type ElementDiff, fitting, renderChanges } from "./diff.ts";

/** Room for changes of texts, which a dump does not list: an error, a new total, a toast. */
const textTokens = 60;

type Compared = { text: string; more: number };

/**
 * What changed between two looks at one screen, in lines; never empty. `watchedMs` is how long the screen was watched. The
 * focus and places are compared only where a look reads the whole screen ({@link Dump.others}). Texts are compared there, or
 * by the looks themselves: `news` has what each look since `before` says of them.
 */
export function compareDumps(
  before: Dump,
  after: Dump,
  maxTokens: number,
  { watchedMs = 0, news = [] }: { watchedMs?: number; news?: readonly TextNews[] } = {},
): Compared {
  const listed = diffElements(before.elements, after.elements);
  const { text, more } = renderChanges(listed, maxTokens);
  if (!before.others || !after.others) {
    const room = Math.min(textTokens, maxTokens - estimateTokens(text));
    const lines = [text, ...renderNews(news, text !== "", room)].filter((line) => line !== "");
    return { text: lines.join("\n") || nothingChanged(watchedMs), more };
  }
  const focus = focusLine(before, after, listed);
  const room = Math.min(textTokens, maxTokens - estimateTokens(`${text}\n${focus}`));
  const others = renderOthers(before.others, after.others, room);
  const lines = [text, ...others, focus].filter((line) => line !== "");
  return { text: lines.join("\n") || unlisted(before, after), more };
}

const nothingChanged = (watchedMs: number): string =>
  watchedMs > 0 ? `nothing changed within ${watchedMs} ms` : "nothing changed";

/** The latest words of each text. That something changed is told also where no line of it has room. */
function renderNews(news: readonly TextNews[], isTold: boolean, maxTokens: number): string[] {
  const latest = new Map(news.flatMap(({ changed }) => changed.map((one) => [one.element.ref, one])));
  const passed = [...new Set(news.flatMap((one) => one.passed))].map((text) => quote(text, 100));
  const lines = [
    ...(passed.length > 0 ? [`shown for a moment: ${passed.join(", ")}`] : []),
    ...[...latest.values()].map(({ element, was }) => changedText(element, was)),
  ];
  const { taken, more } = fitting(lines, maxTokens);
  const rest = more + news.reduce((sum, one) => sum + one.more, 0);
  if (lines.length > 0 || rest > 0) return [...taken, rest > 0 ? `${rest} more texts changed` : ""];
  const gone = news.flatMap((one) => one.gone).map((text) => quote(text, 30));
  if (isTold || gone.length === 0) return [];
  return [`- text ${gone.slice(0, 3).join(", ")}${gone.length > 3 ? ` and ${gone.length - 3} more` : ""}`];
}

/** A text that was only drawn anew is no change. What is gone is left out where something else is told. */
function renderOthers(before: readonly Element[], after: readonly Element[], maxTokens: number): string[] {
  const diff = diffElements(before, after);
  const appeared = diffElements(after, before).gone;
  const isReplaced = appeared.length + diff.changed.length > 0;
  const told = { ...diff, appeared, gone: isReplaced ? [] : diff.gone, reordered: [] };
  const { text, more } = renderChanges(told, maxTokens);
  return [text, more > 0 ? `${more} more texts changed` : ""];
}

/** The element that the focus moved to, unless a line of the changes says it already. */
function focusLine(before: Dump, after: Dump, { appeared, changed }: ElementDiff): string {
  const focused = focusedIn(after);
  const last = focusedIn(before);
  if (focused?.ref === last?.ref) return "";
  if (!focused) return "focus: none";
  const isTold = [...appeared, ...changed.map((change) => change.after)].includes(focused);
  return isTold ? "" : `focus: ${describeElement({ ...focused, states: [] })}`;
}

const all = ({ elements, others = [] }: Dump): Element[] => [...elements, ...others];
const focusedIn = (dump: Dump): Element | undefined =>
  all(dump).find(({ states }) => states.includes("focused"));

/** A keyboard or a picture may change all the same: no look lists them. */
function unlisted(before: Dump, after: Dump): string {
  const places = (dump: Dump) => JSON.stringify(all(dump).map(({ ref, rect }) => [ref, rect]));
  return places(before) === places(after) ? "no element changed" : "only places on the screen changed";
}
