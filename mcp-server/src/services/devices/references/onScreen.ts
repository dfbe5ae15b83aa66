import { type Dump, type Element, type Frame, nearest, type Rect, rectIn } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { OpenDevice } from "../../ports.ts";
import { getPort } from "../portOf.ts";
import { findElements } from "../screen/find.ts";

const shownCandidates = 5;

export async function frameOf(device: OpenDevice, signal: AbortSignal): Promise<Frame> {
  return (await getPort(device, "screen", signal)).capture({}, signal);
}

export async function dumpOf(device: OpenDevice, signal: AbortSignal): Promise<Dump> {
  return (await getPort(device, "elements", signal)).dump({ interactiveOnly: false }, signal);
}

/** The element that a ref or words name. Throws ELEMENT_NOT_FOUND with the nearest, ELEMENT_AMBIGUOUS with the candidates. */
export function elementOf({ elements }: Dump, wanted: string): Element {
  const named = elements.find(({ ref }) => ref === wanted);
  const found = named ? [named] : findElements(elements, wanted);
  const [only, ...others] = found;
  if (only && others.length === 0) return only;
  const same = found.filter(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  const [exact, ...alike] = same;
  if (exact && alike.length === 0) return exact;
  if (only) {
    const candidates = found.slice(0, shownCandidates).map(({ ref, role, name }) => `${ref} ${role} ${name}`);
    throw new ToolError(
      "ELEMENT_AMBIGUOUS",
      `Several elements fit "${wanted}".`,
      `Name one by its ref: ${candidates.join("; ")}.`,
      { candidates },
    );
  }
  const near = nearest(wanted, new Set(elements.map(({ name }) => name)), 3);
  throw new ToolError(
    "ELEMENT_NOT_FOUND",
    `No element on the screen fits "${wanted}".`,
    near.length > 0 ? `Nearest: ${near.join(", ")}.` : "dump_ui_elements shows what there is.",
    { nearest: near },
  );
}

/** Where an element is in a picture of the same screen. Throws as {@link elementOf}, and SPACE_MISMATCH. */
export function placeIn(frame: Frame, dump: Dump, wanted: string): Rect | undefined {
  const { rect } = elementOf(dump, wanted);
  return rect && rectIn(frame, rect, dump.space);
}

/** What is to be read in the area, line by line: of all elements whose middle lies in it. */
export function textIn({ elements }: Dump, area: Rect): string {
  const inside = elements.filter(({ rect }) => {
    if (!rect) return false;
    const x = rect.x + rect.width / 2 - area.x;
    const y = rect.y + rect.height / 2 - area.y;
    return x >= 0 && y >= 0 && x <= area.width && y <= area.height;
  });
  return [...new Set(inside.map(textOf).filter((text) => text !== ""))].join("\n");
}

/** What a person reads on the element: its text, else what is typed into it, else its name. */
export const textOf = ({ text, value, name }: Element): string => (text || value || name).trim();
