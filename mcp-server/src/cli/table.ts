import { wrapText } from "./terminal.ts";

const gap = "  ";

/** Rows below their heads, each column as wide as its widest cell; the last one is wrapped where the terminal ends. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  columns?: number,
): string {
  const all = [heads.map((head) => head.toUpperCase()), ...rows];
  const widths = heads.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  const start = widths.slice(0, -1).reduce((sum, width) => sum + width + gap.length, 0);
  return all
    .map((row) => {
      const cells = row.map((cell, at) => (at === heads.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)));
      return `${wrapText(cells.join(gap).trimEnd(), columns, start)}\n`;
    })
    .join("");
}
