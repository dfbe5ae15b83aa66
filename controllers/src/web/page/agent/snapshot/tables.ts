/** Lists rows of tables and grids that hold data, whether made of tags or of roles. */

import type { SeenElement } from "../answers.ts";
import { headCells } from "../names/columns.ts";
import * as near from "../names/near.ts";
import * as words from "../names/words.ts";
import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import * as sight from "../tree/sight.ts";
import * as records from "./records.ts";
import * as refs from "./refs.ts";

const longestSign = 40;

export function isTable(role: string): boolean {
  return /^(table|grid|treegrid)$/.test(role);
}

/** The words before a table of data without a name. */
export function caption(table: Element): string {
  return factsOf(table).isData ? near.caption(table) : "";
}

export function row(element: Element, depth: number, interactiveOnly: boolean): SeenElement | undefined {
  if (!sight.rendered(element)) return undefined;
  const headers = headersOf(element);
  const text = headers === undefined || interactiveOnly ? "" : wordsOf(element);
  if (headers === undefined || text === undefined) return undefined;
  const seen = records.element(element, "row", "", false, depth);
  if (text !== "") seen.text = text;
  if (headers !== "") seen.headers = dom.cut(headers, 300);
  return seen;
}

/** Drops a row or table without widgets from the list, which has all of its contents. */
export function dropUnpressed(out: SeenElement[], record: SeenElement): void {
  const below = out.slice(out.lastIndexOf(record) + 1);
  const least = record.role === "row" ? 2 : 1;
  if (below.filter((one) => isCell(one, record)).length < least) drop(out, record, below);
}

/** Gives rows with twins the words that say what these are for, and drops rows that only hold links. */
export function signRows(out: SeenElement[]): void {
  for (const record of out.filter(({ role }) => role === "row")) {
    const below = listedBelow(out, record);
    const pressed = below.filter((one) => isCell(one, record));
    const element = refs.element(record.ref);
    const hasTwins = pressed.filter(({ apart }) => apart !== undefined).length > 1;
    if (element && hasTwins) record.text = signOf(element);
    else if (pressed.filter(({ role }) => role !== "link").length < 2) drop(out, record, below);
  }
  for (const table of out.filter(({ role }) => isTable(role))) {
    const below = listedBelow(out, table);
    if (!below.some((one) => isCell(one, table))) drop(out, table, below);
  }
}

function listedBelow(out: readonly SeenElement[], record: SeenElement): SeenElement[] {
  const from = out.indexOf(record) + 1;
  const size = out.slice(from).findIndex(({ depth }) => depth <= record.depth);
  return out.slice(from, size < 0 ? undefined : from + size);
}

function drop(out: SeenElement[], record: SeenElement, below: readonly SeenElement[]): void {
  out.splice(out.lastIndexOf(record), 1);
  for (const one of below) one.depth--;
}

function isCell({ role, interactive, depth }: SeenElement, { role: of, depth: above }: SeenElement): boolean {
  if (of !== "row") return role === "row" && depth === above + 1;
  return interactive && depth === above + 1 && /^(gridcell|clickable|button|option|link)$/.test(role);
}

/** The headers of a row's table, empty if it has none; undefined in a table that is only used for layout. */
function headersOf(row: Element): string | undefined {
  const table = native.closest(row, "table,[role=table],[role=grid],[role=treegrid]");
  const facts = table && factsOf(table);
  return facts?.isData ? facts.headers : undefined;
}

/** The words of a row's cells without its buttons; undefined if there are none, or too many for a line. */
function wordsOf(row: Element): string | undefined {
  const text = read(row, "button,[role=button]");
  return text === "" || text.length > 400 ? undefined : text;
}

/** The words of a row's first cells without its widgets: what the widgets are for. */
function signOf(row: Element): string {
  const said = read(row, "a,button,input,select,textarea,[role=button],[role=link],[onclick]");
  const cells = said.split(" | ").filter((cell) => cell !== "");
  const fitting = cells.filter((_, at) => cells.slice(0, at + 1).join(" | ").length <= longestSign);
  return fitting.length > 0 ? fitting.join(" | ") : dom.cut(said, longestSign);
}

function read(row: Element, pressed: string): string {
  const isPressed = (node: Node) => node instanceof Element && native.matches(node, pressed);
  const cells = cellsOf(row).flatMap((cell) => {
    const spanned = cell instanceof HTMLTableCellElement ? Math.min(cell.colSpan, 20) - 1 : 0;
    return [words.read(cell, false, isPressed), ...Array<string>(spanned).fill("")];
  });
  return cells.some((cell) => /[\p{L}\p{N}]/u.test(cell)) ? cells.join(" | ").replace(/(?:[ |]+)$/, "") : "";
}

function factsOf(table: Element): { isData: boolean; headers: string } {
  const known = dom.known(table);
  known.table ??= { isData: isData(table), headers: headers(table) };
  return known.table;
}

function cellsOf(row: Element): Element[] {
  const own =
    row instanceof HTMLTableRowElement
      ? [...row.cells]
      : [...native.querySelectorAll(row, "[role=cell],[role=gridcell],[role=rowheader],[role=columnheader]")];
  return own.filter((cell) => sight.rendered(cell));
}

function isData(table: Element): boolean {
  if (/^(none|presentation)$/.test(native.getAttribute(table, "role") ?? "")) return false;
  if (!(table instanceof HTMLTableElement)) return true;
  if (table.querySelector("table,h1,h2,form")) return false;
  if (table.tHead || table.caption || table.querySelector("th")) return true;
  return table.rows.length > 1 && [...table.rows].slice(0, 5).every(({ cells }) => cells.length > 1);
}

function headers(table: Element): string {
  return headsOf(table)
    .map((cell) => words.read(cell))
    .join(" | ");
}

function headsOf(table: Element): Element[] {
  if (table instanceof HTMLTableElement) return headCells(table);
  return [...native.querySelectorAll(table, "[role=columnheader]")].slice(0, 100);
}
