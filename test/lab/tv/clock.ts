/** A picture in shades of gray, row by row. */
export type GrayPicture = { bytes: Uint8Array; width: number; height: number };

/** Where in the picture's height the clock begins. The upper place is one that the banners of a set-top box leave free. */
export type ClockPlace = "bottom" | "upper";

/**
 * The clock is a strip across the picture: two rows of columns, the lower row the inverse of the upper one. So a dimmed or
 * compressed picture still reads, and a picture without the clock does not. The first column is white above and the last one black;
 * between them is the number, lowest bit first.
 */
const bits = 18;
const columns = bits + 2;
/** Of the picture's height, both rows together. */
const share = 1 / 12;
const tops: Readonly<Record<ClockPlace, number>> = { bottom: 1 - share, upper: 0.3 };
/** Of 255, between the two rows of a column. */
const leastContrast = 40;

/** A filter graph of ffmpeg that draws the number of each frame, from `first` on, into the stream `from`, and names the result `to`. */
export function clockFilter(
  { from, to }: { from: string; to: string },
  {
    width,
    height,
    fps,
    first,
    place,
  }: { width: number; height: number; fps: number; first: number; place: ClockPlace },
): string {
  const column = `if(eq(X,0),1,if(eq(X,${columns - 1}),0,mod(floor((N+${first})/pow(2,X-1)),2)))`;
  const strip = stripHeight(height);
  return [
    `color=black:size=${columns}x2:rate=${fps},format=gray,geq=lum='255*abs(${column}-Y)',scale=${width}:${strip}:flags=neighbor[clock]`,
    `[${from}][clock]overlay=0:${topOf(place, height)}:shortest=1[${to}]`,
  ].join(";");
}

/** The number that the clock in a picture shows; undefined where there is none to read. */
export function readClock(
  { bytes, width, height }: GrayPicture,
  place: ClockPlace = "bottom",
): number | undefined {
  const strip = height * share;
  const top = tops[place] * height;
  const at = (column: number, row: number) => {
    const x = Math.floor(((column + 0.5) * width) / columns);
    const y = Math.floor(top + (row + 0.5) * (strip / 2));
    return bytes[y * width + x] ?? 0;
  };
  let number = 0;
  for (let column = 0; column < columns; column++) {
    const contrast = at(column, 0) - at(column, 1);
    if (Math.abs(contrast) < leastContrast) return undefined;
    const isSet = contrast > 0;
    if (column === 0 || column === columns - 1) {
      if (isSet !== (column === 0)) return undefined;
    } else if (isSet) number += 2 ** (column - 1);
  }
  return number;
}

const topOf = (place: ClockPlace, height: number) =>
  place === "bottom" ? height - stripHeight(height) : Math.round(height * tops[place]);

/** An even number of rows. */
const stripHeight = (height: number) => 2 * Math.round((height * share) / 2);
