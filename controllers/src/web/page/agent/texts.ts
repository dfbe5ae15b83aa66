/** The questions about the text of a document. */
import type { PlainMatch } from "../../../elements/text.ts";
import * as queries from "./query.ts";
import * as dom from "./tree/dom.ts";
import * as unread from "./tree/unread.ts";
import * as world from "./tree/world.ts";

/**
 * Looks for a text that a user can read. `found` is the line that has it, or the wanted text if it goes over several lines; without
 * it, `lines` has the page's first 400 lines.
 */
export function readText(wanted: PlainMatch): { found?: string; lines: string[]; unread: string[] } {
  dom.begin();
  world.begin();
  const lines = queries.pageText(1_000_000, "glued");
  const found = foundIn(lines, wanted) ?? foundIn(queries.pageText(1_000_000, "apart"), wanted);
  if (found !== undefined) return { found, lines: [], unread: [] };
  return { lines: lines.slice(0, 400).map((one) => short(one)), unread: unread.list() };
}

/** What a user can read, as patterns are compared with: texts of neighbouring boxes as one, and apart. */
export function pageTexts(): { glued: string[]; apart: string[]; unread: string[] } {
  dom.begin();
  world.begin();
  const read = (boxes: "glued" | "apart") =>
    queries.pageText(1_000_000, boxes).map((line) => queries.texts.plain(line));
  return { glued: read("glued"), apart: read("apart"), unread: unread.list() };
}

function foundIn(lines: readonly string[], wanted: PlainMatch): string | undefined {
  const line = lines.find((one) => queries.texts.holds(wanted, one));
  if (line !== undefined) return line;
  const mayGoOver = !/^(same|exact)$/.test(wanted.match);
  return mayGoOver && queries.texts.holds(wanted, lines.join(" ")) ? wanted.text : undefined;
}

function short(line: string): string {
  return line.length > 300 ? `${line.slice(0, 300)} … ${line.length - 300} more` : line;
}
