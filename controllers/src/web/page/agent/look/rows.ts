import type { InpageDom } from "../tree/dom.ts";
import type { InpageRecords, SeenElement } from "./records.ts";
import type { InpageTables } from "./tables.ts";

/** Which rows and tables a look lists, and what they say. Runs inside the page. */
export class InpageRows {
  constructor(
    private readonly dom: InpageDom,
    private readonly tables: InpageTables,
    private readonly records: InpageRecords,
  ) {}

  record(element: Element, depth: number, interactiveOnly: boolean): SeenElement | undefined {
    if (!this.dom.rendered(element)) return undefined;
    const headers = this.tables.headersOf(element);
    const text = headers === undefined || interactiveOnly ? "" : this.tables.text(element);
    if (headers === undefined || text === undefined) return undefined;
    const seen = this.records.element(element, "row", "", false, depth);
    if (text !== "") seen.text = text;
    if (headers !== "") seen.headers = this.dom.cut(headers, 300);
    return seen;
  }

  /** To be asked when all that is in a row or table is in the list: it stays for what can be pressed in it. */
  dropUnpressed(out: SeenElement[], record: SeenElement): void {
    const below = out.slice(out.lastIndexOf(record) + 1);
    const least = record.role === "row" ? 2 : 1;
    if (below.filter((one) => this.isCell(one, record)).length < least) this.drop(out, record, below);
  }

  /** Rows say what the twins in them are for. One that only has links with names of their own is not needed. */
  sign(out: SeenElement[], elementOf: (seen: SeenElement) => Element | undefined): void {
    for (const record of out.filter(({ role }) => role === "row")) {
      const below = this.below(out, record);
      const pressed = below.filter((one) => this.isCell(one, record));
      const element = elementOf(record);
      const hasTwins = pressed.filter(({ apart }) => apart !== undefined).length > 1;
      if (element && hasTwins) record.text = this.tables.sign(element);
      else if (pressed.filter(({ role }) => role !== "link").length < 2) this.drop(out, record, below);
    }
    for (const table of out.filter(({ role }) => this.tables.isTable(role))) {
      const below = this.below(out, table);
      if (!below.some((one) => this.isCell(one, table))) this.drop(out, table, below);
    }
  }

  private below(out: readonly SeenElement[], record: SeenElement): SeenElement[] {
    const from = out.indexOf(record) + 1;
    const size = out.slice(from).findIndex(({ depth }) => depth <= record.depth);
    return out.slice(from, size < 0 ? undefined : from + size);
  }

  private drop(out: SeenElement[], record: SeenElement, below: readonly SeenElement[]): void {
    out.splice(out.lastIndexOf(record), 1);
    for (const one of below) one.depth--;
  }

  private isCell(
    { role, interactive, depth }: SeenElement,
    { role: of, depth: above }: SeenElement,
  ): boolean {
    if (of !== "row") return role === "row" && depth === above + 1;
    return interactive && depth === above + 1 && /^(gridcell|clickable|button|option|link)$/.test(role);
  }
}
