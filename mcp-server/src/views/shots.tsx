import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { StepView } from "../domain/runView.ts";
import { type Box, differenceOf, type Pixels } from "./difference.ts";

type Picture = StepView["pictures"][number];
type Difference = ReturnType<typeof differenceOf>;

/**
 * Set in a report: everything is drawn at once, since nothing is drawn later, and pictures are the file's own: by URI, the id of the
 * picture in the file and its size in pixels. Pictures of the page have addresses instead.
 */
export const Paper = createContext<
  ReadonlyMap<string, { id: string; width: number; height: number }> | undefined
>(undefined);

/** Pictures side by side: a frame in the one that was judged, or shows the screen after the step, where a check saw what it judged, and in the last what changed since `since`. */
export function Shots({
  pictures,
  area,
  since,
}: {
  pictures: readonly Picture[];
  area?: Box | undefined;
  since?: Picture | undefined;
}) {
  const last = pictures.at(-1);
  const isOther = since !== undefined && since.uri !== last?.uri;
  const judged = pictures.find(({ caption }) => /judged|after/.test(caption)) ?? pictures[0];
  const difference = useDifference(isOther ? since.href : undefined, last?.href);
  return (
    <div class="shots">
      {pictures.map((picture) => (
        <Shot
          key={picture.uri}
          {...picture}
          caption={
            picture === last && difference ? `${picture.caption}: ${difference.text}` : picture.caption
          }
          area={picture === judged ? area : undefined}
          changed={picture === last ? difference?.boxes : undefined}
        />
      ))}
    </div>
  );
}

/** What changed between the pictures at two addresses. Undefined until both are here, and if one is gone. */
function useDifference(from: string | undefined, to: string | undefined) {
  const [found, setFound] = useState<{ difference: Difference }>();
  useEffect(() => {
    let isLeft = false;
    const show = (pictures: Pixels[]) => {
      const [a, b] = pictures;
      if (a && b && !isLeft) setFound({ difference: differenceOf(a, b) });
    };
    setFound(undefined);
    if (from !== undefined && to !== undefined)
      Promise.all([from, to].map(pixelsOf)).then(show, () => setFound(undefined));
    return () => {
      isLeft = true;
    };
  }, [from, to]);
  if (!found) return undefined;
  const { share = 0, boxes = [] } = found.difference ?? {};
  const percent = share < 0.01 ? "under 1" : String(Math.round(share * 100));
  const text =
    boxes.length === 0 ? "looks the same" : `${percent} % of its pixels changed, in the dashed frames`;
  return { boxes, text: found.difference ? text : "has another size" };
}

async function pixelsOf(href: string): Promise<Pixels> {
  const image = new Image();
  image.src = href;
  await image.decode();
  const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The browser draws nothing.");
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, canvas.width, canvas.height);
}

type ShotProps = Picture & { area: Box | undefined; changed: readonly Box[] | undefined };

function Shot(given: ShotProps) {
  const { uri, caption, area } = given;
  const paper = useContext(Paper);
  const kept = paper?.get(uri);
  if (!paper) return <LoadedShot {...given} />;
  if (!kept)
    return (
      <p class="soft small">
        {caption}, not in this file: {uri}
      </p>
    );
  return (
    <figure>
      <figcaption class="soft small">{caption}</figcaption>
      <svg class="shot" viewBox={`0 0 ${kept.width} ${kept.height}`} role="img" aria-label={caption}>
        <use href={`#${kept.id}`} />
        {area && <Frame {...area} />}
      </svg>
    </figure>
  );
}

function LoadedShot({ href, caption, area, changed = [] }: ShotProps) {
  const [size, setSize] = useState<{ width: number; height: number }>();
  const [isGone, setGone] = useState(false);
  if (href === undefined || isGone)
    return (
      <p class="soft small">
        {caption}: this picture cannot be shown. Reload the page; old pictures are removed.
      </p>
    );
  return (
    <figure>
      <figcaption class="soft small">{caption}</figcaption>
      <a class="shot" href={href.startsWith("data:") ? undefined : href} target="_blank" rel="noreferrer">
        <img
          src={href}
          alt={caption}
          loading="lazy"
          onError={() => setGone(true)}
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
            setSize({ width, height })
          }
        />
        {size && (area || changed.length > 0) && (
          <svg viewBox={`0 0 ${size.width} ${size.height}`} aria-hidden="true">
            {area && <Frame {...area} />}
            {changed.map((box) => (
              <Frame key={`${box.x} ${box.y}`} {...box} isChange />
            ))}
          </svg>
        )}
      </a>
    </figure>
  );
}

const Frame = ({ x, y, width, height, isChange }: Box & { isChange?: boolean }) => (
  <rect {...{ x, y, width, height }} class={isChange ? "changed" : undefined} />
);
