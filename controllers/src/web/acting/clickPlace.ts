import type { Locator } from "playwright-core";
import { z } from "zod";
import { quoted } from "../../elements/quoted.ts";
import { DeviceError } from "../../errors.ts";
import { runApart } from "../page/askAgent.ts";

/** In pixels from the corner of the element, as Playwright's `position` is. */
export const placeSchema = z.object({ x: z.number(), y: z.number() });
export const boxSchema = z.object({
  ...placeSchema.shape,
  width: z.number().nonnegative(),
  height: z.number().nonnegative(),
});
export type Place = z.output<typeof placeSchema>;
type Options = { timeout: number; signal: AbortSignal };

/**
 * Where to click an element that holds links or buttons, such as a label; undefined for its middle. Throws COMMAND_UNSUITABLE for
 * an option of a closed list, ELEMENT_NOT_ACTIONABLE if links or buttons cover the element.
 */
export async function clickPlace(locator: Locator, options: Options): Promise<Place | undefined> {
  const { option, list, place } = await runApart(locator, clickFactsSchema, clickFacts, undefined, options);
  if (option !== null)
    throw new DeviceError(
      "COMMAND_UNSUITABLE",
      `${quoted(option)} is an option of a list that is closed. Choose it by select_option, with option: ${quoted(option)} and the list${list === "" ? "" : ` ${quoted(list)}`} as its element.`,
    );
  if (place === "none") throw noPlace();
  return place === "middle" ? undefined : place;
}

export const noPlace = (): DeviceError =>
  new DeviceError(
    "ELEMENT_NOT_ACTIONABLE",
    "The element is there, but links or buttons inside of it take every click. Act on one of them, or on the box itself.",
  );

const clickFactsSchema = z.object({
  option: z.string().nullable(),
  list: z.string(),
  place: z.union([z.enum(["middle", "none"]), placeSchema]),
});
type ClickFacts = z.output<typeof clickFactsSchema>;

// What follows runs in the page.

/** For a label or an ARIA checkbox, finds a place without a link or button. */
export function clickFacts(element: Element): ClickFacts {
  const list = element.closest("select");
  if (element instanceof HTMLOptionElement && list && list.size < 2 && !list.multiple)
    return { option: element.label, list: list.id && `#${list.id}`, place: "middle" };
  const ownClick = "a[href],button,select,textarea,[role=button],[role=link]";
  const isTickable = element.matches("label,[role=checkbox],[role=radio],[role=switch]");
  const root = element.getRootNode();
  if (!isTickable || !element.querySelector(ownClick) || !("elementFromPoint" in root))
    return { option: null, list: "", place: "middle" };
  element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
  const { left, top } = element.getBoundingClientRect();
  const isFree = (x: number, y: number) => {
    const hit = element.ownerDocument.elementFromPoint(x, y);
    const taker = hit?.closest(ownClick) ?? null;
    return hit !== null && element.contains(hit) && (taker === null || taker.contains(element));
  };
  for (const box of element.getClientRects())
    for (const share of [0.5, 0.05, 0.95, 0.25, 0.75, 0.15, 0.85, 0.35, 0.65, 0.02, 0.98]) {
      const [x, y] = [box.left + box.width * share, box.top + box.height / 2];
      if (isFree(x, y))
        return {
          option: null,
          list: "",
          place: { x: x - left - element.clientLeft, y: y - top - element.clientTop },
        };
    }
  return { option: null, list: "", place: "none" };
}
