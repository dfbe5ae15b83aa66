/** A table may claim millions of columns. */
const mostColumns = 100;

/** The header cell of each column of a table; with several rows of headers, the lowest. */
export function headCells(table: HTMLTableElement | null): HTMLTableCellElement[] {
  const heads: HTMLTableCellElement[] = [];
  const rowsLeft: number[] = [];
  for (const row of table ? headRows(table) : []) {
    place(row, heads, rowsLeft);
    for (const at of rowsLeft.keys()) rowsLeft[at] = (rowsLeft[at] ?? 0) - 1;
  }
  return heads;
}

/** Puts the cells of a row where no cell from above spans. */
function place(row: HTMLTableRowElement, heads: HTMLTableCellElement[], rowsLeft: number[]): void {
  let column = 0;
  for (const cell of row.cells) {
    while ((rowsLeft[column] ?? 0) > 0) column++;
    const end = Math.min(column + cell.colSpan, mostColumns);
    for (; column < end; column++) {
      heads[column] = cell;
      rowsLeft[column] = cell.rowSpan;
    }
  }
}

/** The index of a cell's column, if cells before it in the row span several. */
export function columnOf(cell: HTMLTableCellElement): number {
  const row = cell.parentElement;
  const before = row instanceof HTMLTableRowElement ? [...row.cells].slice(0, cell.cellIndex) : [];
  return before.reduce((sum, { colSpan }) => sum + colSpan, 0);
}

/** Rows of the `thead`; without one, the first rows that hold only header cells. */
function headRows(table: HTMLTableElement): HTMLTableRowElement[] {
  if (table.tHead) return [...table.tHead.rows];
  const rows = [...table.rows].slice(0, 5);
  const isHead = ({ cells }: HTMLTableRowElement) =>
    cells.length > 0 && [...cells].every(({ localName }) => localName === "th");
  const end = rows.findIndex((row) => !isHead(row));
  return rows.slice(0, end < 0 ? rows.length : end);
}
