import type { Rect } from "../shapes.ts";
import type { Pixels } from "./seen.ts";

/** Red, green and blue of 0 to 255. */
export type Colour = readonly [number, number, number];

/** How far around a text its background is looked at, in heights of the text. */
const around = 0.2;

/** The colour behind a text: the median above and below its letters, in a picture of RGB. */
export function colourBehind(rect: Rect, picture: Pixels): Colour {
  const band = Math.max(2, Math.round(around * rect.height));
  return colourBetween(rect, grown(rect, band), picture);
}

/** The median in the rows of the outer rect that are above or below the inner one, in a picture of RGB. */
export function colourBetween(inner: Rect, outer: Rect, { bytes, ...size }: Pixels): Colour {
  const [left, right] = [Math.max(0, outer.x), Math.min(size.width, outer.x + outer.width)];
  const rows = [
    ...rangeOf(Math.max(0, outer.y), inner.y),
    ...rangeOf(inner.y + inner.height, Math.min(size.height, outer.y + outer.height)),
  ];
  const colours = rows.flatMap((row) =>
    rangeOf(left, right).map((column): Colour => {
      const at = 3 * (row * size.width + column);
      return [bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
    }),
  );
  return medianColour(colours);
}

/** Of each channel by itself. Black where there is none. */
export function medianColour(colours: readonly Colour[]): Colour {
  const middle = (channel: 0 | 1 | 2) =>
    colours.map((colour) => colour[channel]).sort((a, b) => a - b)[Math.floor(colours.length / 2)] ?? 0;
  return [middle(0), middle(1), middle(2)];
}

export const grown = ({ x, y, width, height }: Rect, by: number): Rect => ({
  ...{ x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by },
});

const rangeOf = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, Math.round(to) - Math.round(from)) }, (_, at) => Math.round(from) + at);
