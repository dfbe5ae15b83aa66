/** A picture in shades of gray, row by row. */
export type GrayPicture = { bytes: Uint8Array; width: number; height: number };

/**
 * The clock is a strip at the bottom of the picture: two rows of columns, the lower row the inverse of the upper one. So a dimmed or
 * compressed picture still reads, and a picture without the clock does not. The first column is white above and the last one black;
 * between them is the number, lowest bit first.
 */
const bits = 18;
const columns = bits + 2;
/** Of the picture's height, both rows together. */
const share = 1 / 12;
/** Of 255, between the two rows of a column. */
const leastContrast = 40;

/** A filter graph of ffmpeg that draws the number of each frame, from `first` on, into the stream `from`, and names the result `to`. */
export function clockFilter(
  { from, to }: { from: string; to: string },
  { width, height, fps, first }: { width: number; height: number; fps: number; first: number },
): string {
  const column = `if(eq(X,0),1,if(eq(X,${columns - 1}),0,mod(floor((N+${first})/pow(2,X-1)),2)))`;
  const strip = stripHeight(height);
  return [
    `color=black:size=${columns}x2:rate=${fps},format=gray,geq=lum='255*abs(${column}-Y)',scale=${width}:${strip}:flags=neighbor[clock]`,
    `[${from}][clock]overlay=0:${height - strip}:shortest=1[${to}]`,
  ].join(";");
}

/** The number that the clock in a picture shows; undefined where there is none to read. */
export function readClock({ bytes, width, height }: GrayPicture): number | undefined {
  const strip = height * share;
  const at = (column: number, row: number) => {
    const x = Math.floor(((column + 0.5) * width) / columns);
    const y = Math.floor(height - strip + (row + 0.5) * (strip / 2));
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

/** An even number of rows. */
const stripHeight = (height: number) => 2 * Math.round((height * share) / 2);
