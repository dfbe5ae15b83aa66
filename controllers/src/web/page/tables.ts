import { z } from "zod";
import { DeviceError } from "../../errors.ts";
import { parseAnswer } from "./askAgent.ts";

/** Each of the `rows` by the names in `columns`. `total`: the number of rows by the page, if it holds fewer. */
export type TableData = { columns: string[]; rows: Record<string, string>[]; total?: number };

const notATable = () =>
  new DeviceError(
    "ACTION_REJECTED",
    "The element is not a table or grid, and contains none or several. Select the table itself; use get_text for something that only looks like a table.",
  );

const cellSchema = z.object({ text: z.string(), across: z.number(), down: z.number(), column: z.number() });
const lineSchema = z.object({ isHead: z.boolean(), cells: z.array(cellSchema) });
/** A table with cells over several rows or columns once. `count`: the number of rows by `aria-rowcount`, 0 without it. */
const drawnSchema = z.object({ lines: z.array(lineSchema), count: z.number() });
type Cell = z.output<typeof cellSchema>;
type Line = z.output<typeof lineSchema>;

/**
 * Reads the answer of {@link drawnTable}. A column is named by its headers or, without any, its number; a repeated name gets a
 * number. Cells over several rows or columns are repeated in each. Throws ACTION_REJECTED for "".
 */
export function tableOf(answer: string): TableData {
  if (answer === "") throw notATable();
  const { lines, count } = parseAnswer(answer, drawnSchema);
  const spread = spreadCells(lines);
  const heads = spread.filter(({ isHead }) => isHead);
  const body = spread.filter(({ isHead, texts }) => !isHead && texts.length > 0);
  const width = spread.reduce((most, { texts }) => Math.max(most, texts.length), 0);
  const columns: string[] = [];
  const taken = new Map<string, number>();
  for (let column = 0; column < width; column++) {
    const names = heads.map(({ texts }) => texts[column] ?? "").filter((text) => text !== "");
    const name = [...new Set(names)].join(" ") || String(column + 1);
    const twin = (taken.get(name) ?? 0) + 1;
    taken.set(name, twin);
    columns.push(twin === 1 ? name : `${name} (${twin})`);
  }
  const rows = body.map(({ texts }) =>
    Object.fromEntries(columns.map((column, at) => [column, texts[at] ?? ""])),
  );
  const total = count - heads.length;
  return { columns, rows, ...(total > rows.length && { total }) };
}

/** Of a table with cells that span repeated. */
const most = { cells: 200_000, characters: 10_000_000 };

const tooLarge = () =>
  new DeviceError(
    "ACTION_REJECTED",
    `The table has more than ${most.cells} cells or ${most.characters} characters, with cells that span several rows or columns repeated in each. Select a smaller part of it.`,
  );

/** Each line with a text for each column, also of cells that begin in a line above. Throws ACTION_REJECTED. */
function spreadCells(lines: readonly Line[]): { isHead: boolean; texts: string[] }[] {
  const above = new Map<number, { text: string; left: number }>();
  const left = { ...most };
  return lines.map(({ isHead, cells }) => {
    const texts: string[] = [];
    const add = (text: string) => {
      left.cells -= 1;
      left.characters -= text.length;
      if (left.cells < 0 || left.characters < 0) throw tooLarge();
      texts.push(text);
    };
    const takeAbove = () => {
      for (let one = above.get(texts.length); one; one = above.get(texts.length)) {
        if (--one.left === 0) above.delete(texts.length);
        add(one.text);
      }
    };
    takeAbove();
    for (const { text, across, down } of cells) {
      for (let part = 0; part < across; part++) {
        if (down > 1) above.set(texts.length, { text, left: down - 1 });
        add(text);
      }
      takeAbove();
    }
    return { isHead, texts };
  });
}

/**
 * The table or ARIA grid that an element is, is in or holds, as JSON for {@link tableOf}; "" if there is not exactly one. A grid
 * with fixed columns draws a row in several parts, which become one line. Runs in the page.
 */
export function drawnTable(element: Element): string {
  const tables = "table,[role=table],[role=grid],[role=treegrid]";
  const rowCss = "tr,[role=row]";
  const cellCss = "td,th,[role=cell],[role=gridcell],[role=columnheader],[role=rowheader]";
  const headCss = "th:not([scope=row]),[role=columnheader]";
  const within = [...element.querySelectorAll(tables)].filter((one) => !one.parentElement?.closest(tables));
  const table = element.closest(tables) ?? (within.length === 1 ? within[0] : undefined);
  if (!table) return "";
  const number = (one: Element, name: string) => {
    const said = Number(one.getAttribute(name));
    return Number.isFinite(said) ? said : 0;
  };
  const isShown = (one: Element) => one.checkVisibility({ visibilityProperty: true });

  function fieldText(field: Element): string {
    if (field instanceof HTMLSelectElement)
      return [...field.selectedOptions].map(({ label }) => label).join(", ");
    if (field.matches("[type=checkbox],[type=radio]")) return field.matches(":checked") ? "checked" : "";
    if (field.matches("[type=password]")) return "••••";
    return field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement ? field.value : "";
  }
  function textOf(cell: Element): string {
    const fields = [...cell.querySelectorAll("input,textarea,select")];
    const held = fields.map(fieldText).filter((text) => text !== "");
    // The text of a list would be all of its options.
    if (held.length > 0 || fields.some((field) => field.localName === "select")) return held.join(" ");
    const shown = (cell instanceof HTMLElement ? cell.innerText : (cell.textContent ?? "")).trim();
    const sign = shown === "" ? (cell.querySelector("img[alt],[aria-label],[title]") ?? cell) : cell;
    const names = ["alt", "aria-label", "title"].map((name) => sign.getAttribute(name));
    return shown || (names.find((name) => name) ?? "");
  }
  const cellOf = (cell: Element): Cell => ({
    text: textOf(cell),
    across: cell instanceof HTMLTableCellElement ? Math.min(cell.colSpan, 1_000) : 1,
    down: cell instanceof HTMLTableCellElement ? cell.rowSpan : 1,
    column: number(cell, "aria-colindex"),
  });

  const parts = new Map<string, Element[]>();
  for (const [at, row] of [...table.querySelectorAll(rowCss)].entries()) {
    if (row.closest(tables) !== table || !isShown(row)) continue;
    const index = number(row, "aria-rowindex");
    const key = index > 0 ? `n${index}` : `r${at}`;
    parts.set(key, [...(parts.get(key) ?? []), row]);
  }
  const lines = [...parts.values()].map((rows): Line => {
    const found = rows
      .flatMap((row) => [...row.querySelectorAll(cellCss)].filter((cell) => cell.closest(rowCss) === row))
      .filter(isShown);
    const inHead = rows.every((row) => row.closest("thead") !== null);
    const isHead = found.length > 0 && (inHead || found.every((cell) => cell.matches(headCss)));
    const cells = found.map(cellOf);
    if (cells.every(({ column }) => column > 0)) cells.sort((one, other) => one.column - other.column);
    return { isHead, cells };
  });
  return JSON.stringify({ lines, count: number(table, "aria-rowcount") });
}
