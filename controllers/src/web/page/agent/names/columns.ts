/** A table may say that it has more columns than anybody can read. */
const mostColumns = 100;

/** The cell that heads each column of a table, the lowest where heads stand in several rows. */
export function headCells(table: HTMLTableElement | null): HTMLTableCellElement[] {
  const heads: HTMLTableCellElement[] = [];
  const rowsLeft: number[] = [];
  for (const row of table ? headRows(table) : []) {
    place(row, heads, rowsLeft);
    for (const at of rowsLeft.keys()) rowsLeft[at] = (rowsLeft[at] ?? 0) - 1;
  }
  return heads;
}

/** Puts the cells of a row where no cell from above reaches down. */
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

/** Counted as columns of the table, where cells before it in its row span several. */
export function columnOf(cell: HTMLTableCellElement): number {
  const row = cell.parentElement;
  const before = row instanceof HTMLTableRowElement ? [...row.cells].slice(0, cell.cellIndex) : [];
  return before.reduce((sum, { colSpan }) => sum + colSpan, 0);
}

/** Those of the head; else the rows of header cells with which the table begins. */
function headRows(table: HTMLTableElement): HTMLTableRowElement[] {
  if (table.tHead) return [...table.tHead.rows];
  const rows = [...table.rows].slice(0, 5);
  const isHead = ({ cells }: HTMLTableRowElement) =>
    cells.length > 0 && [...cells].every(({ localName }) => localName === "th");
  const end = rows.findIndex((row) => !isHead(row));
  return rows.slice(0, end < 0 ? rows.length : end);
}
