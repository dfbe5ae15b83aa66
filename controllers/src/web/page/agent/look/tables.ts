import { headCells } from "../names/columns.ts";
import type { InpageNear } from "../names/near.ts";
import type { InpageWords } from "../names/words.ts";
import type { InpageDom } from "../tree/dom.ts";
import { native } from "../tree/native.ts";

type TableFacts = { isData: boolean; headers: string };

/** Rows of tables and grids that hold data, whether of tags or of roles. Runs inside the page. */
export class InpageTables {
  private readonly longestSign = 40;
  private look = -1;
  private known = new Map<Element, TableFacts>();

  constructor(
    private readonly dom: InpageDom,
    private readonly words: InpageWords,
    private readonly near: InpageNear,
  ) {}

  isTable(role: string): boolean {
    return /^(table|grid|treegrid)$/.test(role);
  }

  /** What stands before a table of data that has no name. */
  caption(table: Element): string {
    return this.facts(table).isData ? this.near.caption(table) : "";
  }

  /** The headers above a row, empty where there are none; undefined for a row of a table that only lays things out. */
  headersOf(row: Element): string | undefined {
    const table = native.closest(row, "table,[role=table],[role=grid],[role=treegrid]");
    const facts = table && this.facts(table);
    return facts?.isData ? facts.headers : undefined;
  }

  /** The words of a row's cells, without those of its buttons; undefined where there are none, or too many for a line. */
  text(row: Element): string | undefined {
    const text = this.read(row, "button,[role=button]");
    return text === "" || text.length > 400 ? undefined : text;
  }

  /** The words of a row's first cells that are not those of something to press: what the things to press in it are for. */
  sign(row: Element): string {
    const words = this.read(row, "a,button,input,select,textarea,[role=button],[role=link],[onclick]");
    const cells = words.split(" | ").filter((cell) => cell !== "");
    const fitting = cells.filter((_, at) => cells.slice(0, at + 1).join(" | ").length <= this.longestSign);
    return fitting.length > 0 ? fitting.join(" | ") : this.dom.cut(words, this.longestSign);
  }

  private read(row: Element, pressed: string): string {
    const isPressed = (node: Node) => node instanceof Element && native.matches(node, pressed);
    const cells = this.cells(row).flatMap((cell) => {
      const words = this.words.read(cell, false, isPressed);
      const spanned = cell instanceof HTMLTableCellElement ? Math.min(cell.colSpan, 20) - 1 : 0;
      return [words, ...Array<string>(spanned).fill("")];
    });
    return cells.some((cell) => /[\p{L}\p{N}]/u.test(cell))
      ? cells.join(" | ").replace(/(?:[ |]+)$/, "")
      : "";
  }

  private facts(table: Element): TableFacts {
    if (this.look !== this.dom.looks) this.known = new Map();
    this.look = this.dom.looks;
    let facts = this.known.get(table);
    if (!facts) {
      facts = { isData: this.isData(table), headers: this.headers(table) };
      this.known.set(table, facts);
    }
    return facts;
  }

  private cells(row: Element): Element[] {
    const own =
      row instanceof HTMLTableRowElement
        ? [...row.cells]
        : [
            ...native.querySelectorAll(
              row,
              "[role=cell],[role=gridcell],[role=rowheader],[role=columnheader]",
            ),
          ];
    return own.filter((cell) => this.dom.rendered(cell));
  }

  private isData(table: Element): boolean {
    if (/^(none|presentation)$/.test(native.getAttribute(table, "role") ?? "")) return false;
    if (!(table instanceof HTMLTableElement)) return true;
    if (table.querySelector("table,h1,h2,form")) return false;
    if (table.tHead || table.caption || table.querySelector("th")) return true;
    return table.rows.length > 1 && [...table.rows].slice(0, 5).every(({ cells }) => cells.length > 1);
  }

  private headers(table: Element): string {
    return this.headCells(table)
      .map((cell) => this.words.read(cell))
      .join(" | ");
  }

  private headCells(table: Element): Element[] {
    if (table instanceof HTMLTableElement) return headCells(table);
    return [...native.querySelectorAll(table, "[role=columnheader]")].slice(0, 100);
  }
}
