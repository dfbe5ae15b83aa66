import { type AppViewProps, countBelow, rateOf } from "./outline.ts";

/** The same as the map, as a list: for screen readers and narrow screens. */
export function PlaceList({ ids, ...view }: AppViewProps & { ids: readonly string[] }) {
  const { outline, open, chosen, choose, fold } = view;
  return (
    <ul class="steps">
      {ids.map((id) => {
        const label = outline.nodes.get(id)?.label;
        const below = outline.below.get(id) ?? [];
        return (
          <li key={id} class="stack">
            <div class="row">
              <button type="button" aria-pressed={chosen === id} onClick={() => choose(id)}>
                {label}
              </button>
              {below.length > 0 && (
                <button
                  type="button"
                  aria-expanded={open.has(id)}
                  aria-label={`Places below ${label}`}
                  onClick={() => fold(id)}
                >
                  {open.has(id) ? "−" : `+${countBelow(outline, id)}`}
                </button>
              )}
              <Ways {...view} from={id} />
            </div>
            {open.has(id) && below.length > 0 && <PlaceList {...view} ids={below} />}
          </li>
        );
      })}
    </ul>
  );
}

/** The ways that lead out of a place, and how reliable each is. */
export const Ways = ({ outline, from, chosen, choose }: AppViewProps & { from: string }) => (
  <>
    {outline.edges
      .filter(({ source }) => source === from)
      .map((edge) => (
        <button
          type="button"
          class="small"
          aria-pressed={chosen === edge.id}
          key={edge.id}
          onClick={() => choose(edge.id)}
        >
          → {outline.nodes.get(edge.target)?.label} <span class="soft">{rateOf(edge).text}</span>
        </button>
      ))}
  </>
);
