/** Colours of a picture as a canvas gives them: four bytes a pixel, row by row. */
export type Pixels = { width: number; height: number; data: ArrayLike<number> };
export type Box = { x: number; y: number; width: number; height: number };

/** A pixel differs if its red, green or blue differs by more than this, of 255. Less is noise of JPEG and video. */
const tolerance = 40;
/** Pixels of one square, or of squares that touch, are one place. */
const side = 16;

/** The places where two pictures differ, and the share of their pixels (0..1). Undefined for pictures of two sizes. */
export function differenceOf(a: Pixels, b: Pixels): { share: number; boxes: Box[] } | undefined {
  if (a.width !== b.width || a.height !== b.height) return undefined;
  const columns = Math.ceil(a.width / side);
  const squares = new Set<number>();
  let count = 0;
  for (let pixel = 0; pixel < a.width * a.height; pixel++) {
    if (!differs(a.data, b.data, pixel * 4)) continue;
    count += 1;
    const [row, column] = [Math.floor(pixel / a.width / side), Math.floor((pixel % a.width) / side)];
    squares.add(row * columns + column);
  }
  const boxes: Box[] = [];
  for (const square of squares) boxes.push(boxOf(taken(squares, square, columns), columns, a));
  return { share: count / (a.width * a.height), boxes };
}

function differs(a: ArrayLike<number>, b: ArrayLike<number>, at: number): boolean {
  for (let colour = at; colour < at + 3; colour++)
    if (Math.abs((a[colour] ?? 0) - (b[colour] ?? 0)) > tolerance) return true;
  return false;
}

/** Takes a square and all that touch it out of `squares`. */
function taken(squares: Set<number>, first: number, columns: number): number[] {
  const found = [first];
  squares.delete(first);
  for (const square of found)
    for (const down of [-columns, 0, columns])
      for (const right of [-1, 0, 1]) {
        const next = square + down + right;
        const isBeside = Math.abs((next % columns) - (square % columns)) <= 1;
        if (isBeside && squares.delete(next)) found.push(next);
      }
  return found;
}

function boxOf(squares: readonly number[], columns: number, { width, height }: Pixels): Box {
  const xs = squares.map((square) => (square % columns) * side);
  const ys = squares.map((square) => Math.floor(square / columns) * side);
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  const [right, bottom] = [Math.max(...xs) + side, Math.max(...ys) + side];
  return { x, y, width: Math.min(width, right) - x, height: Math.min(height, bottom) - y };
}
