import type { ControllerContext, Reading } from "../contract.ts";
import type { Frame } from "../shapes.ts";
import { difference, diffPicture } from "./imageDiff.ts";
import { findImage } from "./imageFinder.ts";
import { areaOn, type LoadedReference, loadReference, type WantedArea } from "./imageReference.ts";
import type { Match } from "./imageSearch.ts";
import { cut } from "./planes.ts";
import type { Seen } from "./seen.ts";

/** What is looked for: a reference, where, how like, in which sizes, and how many of them. */
export type Wish = {
  reference: string;
  area?: WantedArea | undefined;
  tolerance: number;
  score: number;
  scale_range: number;
  most: number;
};
/** The reference, the picture, and the places that hold it, best first; `nearest` is the place most like it when none does. */
export type Found = { loaded: LoadedReference; seen: Seen; places: readonly Match[]; nearest?: Match };

const scaleStep = 0.02;

/** 1, then ever further from it, up and down in turn. */
function scalesWithin(range: number): readonly number[] {
  const steps = Math.round(range / scaleStep);
  const around = Array.from({ length: steps }, (_, index) => (index + 1) * scaleStep);
  return [1, ...around.flatMap((by) => [1 - by, 1 + by])];
}

/** Looks for a reference in a picture. Throws what `loadReference`, `areaOn` and `findImage` throw. */
export async function findIn(
  context: ControllerContext,
  seen: Seen,
  wish: Wish,
  { ms, signal }: { ms?: number | undefined; signal: AbortSignal },
): Promise<Found> {
  const loaded = await loadReference(context, wish.reference, seen.space, signal);
  const area = areaOn(seen.space, wish.area, wish.tolerance, loaded);
  const wanted = {
    template: loaded.gray,
    ...(loaded.mask && { mask: loaded.mask }),
    score: wish.score,
    scales: scalesWithin(wish.scale_range),
    most: wish.most,
  };
  const question = { id: seen.number, picture: await seen.gray(), wanted, ...(area && { area }) };
  const matches = await findImage(context.addons, question, { ms, signal });
  const onScreen = matches.map((match) => ({
    ...match,
    x: match.x + (area?.x ?? 0),
    y: match.y + (area?.y ?? 0),
  }));
  const places = onScreen.filter(({ isConfirmed, score }) => isConfirmed && score >= wish.score);
  const [nearest] = onScreen;
  return { loaded, seen, places, ...(places.length === 0 && nearest && { nearest }) };
}

/** The evidence: what was judged, the reference, and what differs at the place most like it. */
export async function evidence({
  loaded,
  seen,
  places,
  nearest,
}: Found): Promise<Pick<Reading, "score" | "area" | "pictures">> {
  const frame = await seen.frame();
  const place = places[0] ?? nearest;
  if (!place) return { score: 0, pictures: [frame, loaded.frame] };
  const { x, y, width, height } = place;
  const area = { x, y, width, height };
  const diff = await differenceAt(loaded, seen, place, frame.takenAt);
  return { score: rounded(place.score), area, pictures: [frame, loaded.frame, diff] };
}

async function differenceAt(
  { rgb, mask }: LoadedReference,
  seen: Seen,
  place: Match,
  takenAt: string,
): Promise<Frame> {
  const part = cut(await seen.rgb(), place, 3);
  const { width, height } = part;
  if (width === rgb.width && height === rgb.height)
    return diffPicture(part, difference(part, rgb, mask), takenAt);
  const { default: sharp } = await import("sharp");
  const raw = { width: rgb.width, height: rgb.height, channels: 3 as const };
  const bytes = await sharp(rgb.bytes, { raw }).resize({ width, height, fit: "fill" }).raw().toBuffer();
  return diffPicture(part, difference(part, { bytes, width, height }), takenAt);
}

export const rounded = (score: number): number => Math.round(1_000 * score) / 1_000;

/** What one place says for people. */
export function actualOf({ loaded, places, nearest }: Found): string {
  const place = places[0] ?? nearest;
  if (!place) return "nothing on the screen is like it";
  const where = `${place.x}, ${place.y}`;
  const size = place.scale === 1 ? "" : ` at ${Math.round(100 * place.scale)} % of its size`;
  if (places.length > 0) return `it is at ${where}${size} (score ${rounded(place.score)})`;
  const why = place.isConfirmed ? "too unlike" : "something in it is different";
  const { width, height } = loaded.gray;
  return `the place most like it, ${width} x ${height} at ${where}${size}, is not it: ${why} (score ${rounded(place.score)})`;
}
