import type { Step } from "../../../domain/index.ts";
import { findingOf } from "../judgement/facts.ts";
import { escapeMarkup as e } from "./markup.ts";
import type { Picture, ReportEntry } from "./types.ts";

/** Pictures beyond this are left out of an HTML file, and it says so. As text they take a third more. */
const maxPictureBytes = 24 * 1024 * 1024;

type Shown = Pick<ReportEntry, "steps" | "pictureChoice">;

/** A picture of a step, and what it is of it, such as `before and after`. */
export type Shot = [uri: string, caption: string];

/** The pictures that a step shows; what its check judged comes first. */
export function shotsOf(step: Step, { pictureChoice }: Pick<ReportEntry, "pictureChoice">): Shot[] {
  if (pictureChoice !== "all" && isPassed(step)) return [];
  const captions = new Map((findingOf(step)?.evidence ?? []).map((uri) => [uri, "judged"]));
  for (const { kind, uri, mime_type } of step.artifacts) {
    if (!mime_type.startsWith("image/")) continue;
    const name = kind.replace("screenshot_", "").replaceAll("_", " ");
    const before = captions.get(uri);
    captions.set(uri, before === undefined ? name : `${before} and ${name}`);
  }
  return [...captions];
}

const isPassed = ({ status }: Step) => status === "passed" || status === "skipped";

/** The runs with their pictures, each fetched once: failed steps first, until the file would be too large. */
export async function withPictures<Entry extends Omit<ReportEntry, "pictures">>(
  entries: readonly Entry[],
  find: (uri: string) => Promise<Picture | undefined>,
): Promise<(Entry & Pick<ReportEntry, "pictures">)[]> {
  const pictures = new Map<string, Picture>();
  let left = maxPictureBytes;
  for (const uri of byWorth(entries)) {
    const picture = await find(uri);
    if (!picture) continue;
    left -= picture.bytes.byteLength;
    if (left < 0) break;
    pictures.set(uri, picture);
  }
  return entries.map((entry) => ({ ...entry, pictures }));
}

function byWorth(entries: readonly Shown[]): Set<string> {
  const shown = entries.flatMap((entry) =>
    entry.steps.flatMap((step) => shotsOf(step, entry).map(([uri]) => ({ uri, passed: isPassed(step) }))),
  );
  return new Set(shown.sort((a, b) => Number(a.passed) - Number(b.passed)).map(({ uri }) => uri));
}

const scheme = "artifact://";
const idOf = (uri: string) => `p-${uri.slice(scheme.length)}`;

/** Those pictures of the runs that a page shows, by URI. */
export function shownPictures(entries: readonly ReportEntry[]): ReportPictures {
  const all = new Map(entries.flatMap(({ pictures }) => [...pictures]));
  return new Map(
    [...byWorth(entries)].flatMap((uri) => {
      const picture = all.get(uri);
      return picture ? [[uri, { id: idOf(uri), ...picture }]] : [];
    }),
  );
}

type ReportPictures = ReadonlyMap<string, Picture & { id: string }>;

/** The pictures of a page, each once, for its steps to show by their ids. */
export function pictureStore(pictures: ReportPictures): string {
  const images = [...pictures].map(([uri, picture]) => imageOf(uri, picture));
  return images.length === 0
    ? ""
    : `<svg class="store" aria-hidden="true"><defs>\n${images.join("\n")}\n</defs></svg>`;
}

const imageOf = (uri: string, { mimeType, bytes, width, height }: Picture) =>
  `<image id="${e(idOf(uri))}" width="${width}" height="${height}" href="data:${e(mimeType)};base64,${Buffer.from(bytes).toString("base64")}"/>`;

const stored =
  /<image id="p-([0-9a-f]+)" width="(\d+)" height="(\d+)" href="data:(image\/[a-z0-9.+-]+);base64,([A-Za-z0-9+/=]*)"\/>/g;

/** The pictures of a page that {@link pictureStore} wrote, by artifact URI. */
export function readPictures(page: string): Map<string, Picture> {
  const all = page.matchAll(stored);
  return new Map(
    Array.from(all, ([, sha256 = "", width, height, mimeType = "", base64 = ""]) => [
      `${scheme}${sha256}`,
      { mimeType, bytes: Buffer.from(base64, "base64"), width: Number(width), height: Number(height) },
    ]),
  );
}

/** Wide enough to read a page in a report's column on a dense screen. The artifact has it whole. */
const widest = 1_080;

/** A picture as WebP, about a tenth of the size. Undefined for bytes that are not a picture. */
export async function shrink(file: Pick<Picture, "mimeType" | "bytes">): Promise<Picture | undefined> {
  // Loaded when first needed: a server without reports does without it.
  const { default: sharp } = await import("sharp");
  try {
    const { width, height } = await sharp(file.bytes).metadata();
    const bytes = await sharp(file.bytes)
      .resize({ width: widest, withoutEnlargement: true })
      .webp({ quality: 75, effort: 2 })
      .toBuffer();
    const smaller = bytes.byteLength < file.bytes.byteLength ? { mimeType: "image/webp", bytes } : file;
    return { ...smaller, width, height };
  } catch {
    return undefined;
  }
}
