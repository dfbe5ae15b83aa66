import type { InpageDom } from "./inpageDom.ts";
import type { InpageNear } from "./inpageNear.ts";
import type { InpageWords } from "./inpageWords.ts";

type TableFacts = { isData: boolean; headers: string };

/** Rows of tables and grids that hold data, whether of tags or of roles. Runs inside the page. */
export class InpageTables {
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
    const table = row.closest("table,[role=table],[role=grid],[role=treegrid]");
    const facts = table && this.facts(table);
    return facts?.isData ? facts.headers : undefined;
  }

  /** The words of a row's cells, without those of its buttons; undefined where there are none, or too many for a line. */
  text(row: Element): string | undefined {
    const isButton = (node: Node) => node instanceof Element && node.matches("button,[role=button]");
    const cells = this.cells(row).map((cell) => this.words.read(cell, false, isButton));
    const text = cells.join(" | ").replace(/(?: \| )+$/, "");
    return cells.every((cell) => cell === "") || text.length > 400 ? undefined : text;
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
        : [...row.querySelectorAll("[role=cell],[role=gridcell],[role=rowheader],[role=columnheader]")];
    return own.filter((cell) => this.dom.rendered(cell));
  }

  private isData(table: Element): boolean {
    if (/^(none|presentation)$/.test(table.getAttribute("role") ?? "")) return false;
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
    if (!(table instanceof HTMLTableElement))
      return [...table.querySelectorAll("[role=columnheader]")].slice(0, 100);
    const head = [...(table.tHead?.rows ?? [])].at(-1) ?? table.rows[0];
    const cells = [...(head?.cells ?? [])];
    const isHead = head?.parentElement === table.tHead || cells.every(({ localName }) => localName === "th");
    return isHead ? cells : [];
  }
}
