/** Cells of the burnt-in clock: a row of squares at the top left, one a bit, the highest first. */
const bits = 32;
const cell = 8;

/** Burns a number into raw rgb, so that a reader of the picture knows which one it is. */
export function burnIn(rgb: Uint8Array, width: number, value: number): void {
  for (let bit = 0; bit < bits; bit++) {
    const isSet = Math.floor(value / 2 ** (bits - 1 - bit)) % 2 === 1;
    for (let y = 0; y < cell; y++) {
      const from = (y * width + bit * cell) * 3;
      rgb.fill(isSet ? 255 : 0, from, from + cell * 3);
    }
  }
}
