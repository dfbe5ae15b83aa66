import type { Element } from "../contract.ts";
import type { FocusSource } from "../ports.ts";
import type { Rect, Space } from "../shapes.ts";
import { holdsAnother } from "./geometry.ts";

/** An element that can have the focus. `isTwin`: others on the screen are called the same, so that its id is only its ref. */
export type Place = {
  id: string;
  isTwin: boolean;
  element: Element;
  rect: Rect;
  /** A list around other places. No arrow is expected to end on it. */
  isAround: boolean;
};

/** One snapshot: what has the focus, and what can have it, by id in the order of the source. */
export type View = {
  focused: Place | undefined;
  places: ReadonlyMap<string, Place>;
  space: Space;
};

export function viewOf({ focused, candidates, space }: Awaited<ReturnType<FocusSource["focus"]>>): View {
  const isListed = candidates.some(({ ref }) => ref === focused?.ref);
  const placed = [...candidates, ...(focused && !isListed ? [focused] : [])].flatMap((element) =>
    element.rect ? [{ element, rect: element.rect }] : [],
  );
  const counts = new Map<string, number>();
  for (const { element } of placed) counts.set(nameOf(element), (counts.get(nameOf(element)) ?? 0) + 1);
  const places = placed.map(({ element, rect }): Place => {
    const name = nameOf(element);
    const isTwin = (counts.get(name) ?? 0) > 1;
    const id = isTwin ? `${name}\n${element.ref}` : name;
    return { id, isTwin, element, rect, isAround: isHolder(element) && holdsAnother(rect, placed) };
  });
  return {
    focused: places.find(({ element }) => element.ref === focused?.ref),
    places: new Map(places.map((place) => [place.id, place])),
    space,
  };
}

const isHolder = ({ role }: Element): boolean => /^(list|grid|region|document)$/.test(role);

/** Rects move when a list scrolls, and a device may number its elements anew: what a thing is called stays. */
const nameOf = ({ role, name, text }: Element): string => `${role}\n${name === "" ? (text ?? "") : name}`;

/** Says whether anything but the focus differs between two snapshots, as after a list has scrolled. */
export function hasMoved(before: View, after: View): boolean {
  if (before.places.size !== after.places.size) return true;
  for (const [id, { rect }] of before.places) {
    const now = after.places.get(id)?.rect;
    if (now === undefined || now.x !== rect.x || now.y !== rect.y) return true;
  }
  return false;
}
