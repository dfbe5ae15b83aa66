import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Drawing, type DrawnEdge, type DrawnNode, draw, type Point, pictureHeight } from "./drawing.ts";
import { type AppViewProps, countBelow, rateOf } from "./outline.ts";

/** The app as a picture: it scrolls as all that scrolls does, by mouse, fingers and keys, and zooms. */
export function AppMapView({ outline, open, chosen, choose, fold }: AppViewProps) {
  const drawing = useMemo(() => draw(outline, open), [outline, open]);
  const frame = useRef<HTMLElement>(null);
  const camera = useCamera(frame, drawing);
  const keys: Record<string, () => void> = {
    ...{ "+": () => camera.zoom(1.25), "-": () => camera.zoom(0.8), "0": camera.fit },
  };
  return (
    <div class="map">
      <div class="row">
        <button type="button" aria-label="Zoom in" onClick={keys["+"]}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={keys["-"]}>
          −
        </button>
        <button type="button" onClick={camera.fit}>
          Fit
        </button>
      </div>
      <section
        ref={frame}
        aria-label="Map: plus and minus zoom, 0 shows all"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        tabIndex={0}
        onKeyDown={({ key, ctrlKey, metaKey }) => !ctrlKey && !metaKey && keys[key]?.()}
        onPointerMove={({ buttons, pointerType, movementX, movementY, currentTarget }) => {
          if (buttons === 1 && pointerType === "mouse") currentTarget.scrollBy(-movementX, -movementY);
        }}
        onWheel={(event) => {
          if (!event.ctrlKey) return;
          event.preventDefault();
          const { left, top } = event.currentTarget.getBoundingClientRect();
          camera.zoom(1.002 ** -event.deltaY, { x: event.clientX - left, y: event.clientY - top });
        }}
      >
        <svg
          width={drawing.width * camera.scale}
          height={drawing.height * camera.scale}
          viewBox={`0 0 ${drawing.width} ${drawing.height}`}
        >
          <title>Map</title>
          <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" orient="auto-start-reverse">
            <path d="M0 0L8 4L0 8Z" />
          </marker>
          {drawing.edges.map((drawn) => (
            <Way key={drawn.edge.id} drawn={drawn} isChosen={chosen === drawn.edge.id} choose={choose} />
          ))}
          {[...drawing.nodes].map(([id, drawn]) => (
            <Place
              key={id}
              drawn={drawn}
              isChosen={chosen === id}
              folded={
                outline.below.get(id)?.length ? (open.has(id) ? "−" : `+${countBelow(outline, id)}`) : ""
              }
              choose={choose}
              fold={() => {
                camera.keep(drawn, ({ nodes }) => nodes.get(id) ?? drawn);
                fold(id);
              }}
            />
          ))}
        </svg>
      </section>
    </div>
  );
}

/** Scale and place of what is seen. What changes keeps a point of the drawing where it is in the frame. */
function useCamera(frame: { current: HTMLElement | null }, drawing: Drawing) {
  const [scale, setScale] = useState(1);
  const kept = useRef<{ at: Point; find(drawing: Drawing): Point }>();
  const fitting = () => {
    const { clientWidth = 1, clientHeight = 1 } = frame.current ?? {};
    return Math.min(1, clientWidth / drawing.width, clientHeight / drawing.height);
  };
  useLayoutEffect(() => {
    const [start = { x: 0, y: 0 }] = drawing.nodes.values();
    kept.current = { at: { x: 100, y: (frame.current?.clientHeight ?? 0) / 2 }, find: () => start };
    setScale(Math.max(0.6, fitting()));
  }, []);
  useLayoutEffect(() => {
    if (!kept.current) return;
    const { at, find } = kept.current;
    const { x, y } = find(drawing);
    frame.current?.scrollTo(x * scale - at.x, y * scale - at.y);
    kept.current = undefined;
  }, [drawing, scale]);
  const seen = () => ({ x: frame.current?.scrollLeft ?? 0, y: frame.current?.scrollTop ?? 0 });
  return {
    scale,
    fit: () => setScale(fitting()),
    keep({ x, y }: Point, find: (drawing: Drawing) => Point) {
      kept.current = { at: { x: x * scale - seen().x, y: y * scale - seen().y }, find };
    },
    /** Around a point of the frame, or its middle. */
    zoom(factor: number, given?: Point) {
      const { clientWidth = 0, clientHeight = 0 } = frame.current ?? {};
      const at = given ?? { x: clientWidth / 2, y: clientHeight / 2 };
      const point = { x: (seen().x + at.x) / scale, y: (seen().y + at.y) / scale };
      kept.current = { at, find: () => point };
      setScale(Math.min(3, Math.max(0.1, scale * factor)));
    },
  };
}

type PressProps = {
  label: string;
  press(): void;
  class: string;
  isChosen?: boolean;
  children: ComponentChildren;
};

const Press = ({ label, press, isChosen, class: name, children }: PressProps) => (
  // biome-ignore lint/a11y/useSemanticElements: SVG has no button
  <g
    role="button"
    // In lower case: Preact sets it as it stands, and only HTML takes it in any case.
    tabindex={0}
    aria-pressed={isChosen}
    class={`${name}${isChosen ? " chosen" : ""}`}
    onClick={press}
    onKeyDown={(event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      press();
    }}
  >
    <title>{label}</title>
    {children}
  </g>
);

type Choosing = { isChosen: boolean; choose(id: string): void };

function Way({ drawn: { edge, name, path, x, y }, isChosen, choose }: Choosing & { drawn: DrawnEdge }) {
  const { text, tone } = rateOf(edge);
  return (
    <Press label={`${name}, ${text}`} press={() => choose(edge.id)} class={`way ${tone}`} isChosen={isChosen}>
      <path class="near" d={path} />
      <path d={path} marker-end="url(#tip)" marker-start={edge.back ? "url(#tip)" : undefined} />
      <text x={x} y={y - 5}>
        {text}
      </text>
    </Press>
  );
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function Place({
  drawn: { node, x, y, width, height },
  folded,
  isChosen,
  choose,
  fold,
}: Choosing & { drawn: DrawnNode; folded: string; fold(): void }) {
  const { id, label, type, checks, picture } = node;
  const [left, top, bottom] = [x - width / 2, y - height / 2, y + height / 2];
  return (
    <>
      <Press label={label} press={() => choose(id)} class={`place ${type}`} isChosen={isChosen}>
        <rect x={left} y={top} width={width} height={height} rx="8" />
        {picture && (
          <image
            {...{ href: picture, x: left + 4, y: top + 4, width: width - 8, height: pictureHeight - 4 }}
            preserveAspectRatio="xMidYMin slice"
          />
        )}
        <text x={left + 12} y={bottom - 25}>
          {cut(label, folded ? 16 : 20)}
        </text>
        <text class="soft" x={left + 12} y={bottom - 9}>
          {type === "screen" ? `${checks} ${checks === 1 ? "check" : "checks"}` : type}
        </text>
      </Press>
      {folded && (
        <Press
          label={`${folded === "−" ? "Fold" : "Unfold"} what is below ${label}`}
          press={fold}
          class="fold"
        >
          <rect x={left + width - 44} y={bottom - 36} width="36" height="28" rx="14" />
          <text x={left + width - 26} y={bottom - 17}>
            {folded}
          </text>
        </Press>
      )}
    </>
  );
}
