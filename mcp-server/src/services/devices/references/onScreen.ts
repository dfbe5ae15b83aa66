import { type Dump, type Element, type Frame, nearest, type Rect, rectIn } from "@labwright/controllers";
import type { Area, ReferenceDocument } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { OpenDevice } from "../../ports.ts";
import { getPort } from "../portOf.ts";
import { findElements } from "../screen/find.ts";
import { loadSharp } from "../screen/pictures.ts";

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

/** Of a picture that comes in a file: more would take gigabytes to unpack. */
const mostPixels = 50_000_000;

/** Whole pixels that hold the rect. Throws INVALID_INPUT, with the frame's size, for one that is not all in the frame. */
export function areaIn(frame: Pick<Frame, "width" | "height">, rect: Rect | undefined): Area {
  const { width, height } = frame;
  const { x, y, right, bottom } = rect
    ? {
        x: Math.floor(rect.x),
        y: Math.floor(rect.y),
        right: Math.ceil(rect.x + rect.width),
        bottom: Math.ceil(rect.y + rect.height),
      }
    : { x: 0, y: 0, right: 0, bottom: 0 };
  const isInside = x >= 0 && y >= 0 && right <= width && bottom <= height;
  if (isInside && right > x && bottom > y) return { x, y, width: right - x, height: bottom - y };
  throw new ToolError(
    "INVALID_INPUT",
    rect
      ? `The area ${right - x} x ${bottom - y} at ${x}, ${y} is empty or not all in the frame, which is ${width} x ${height} pixels.`
      : "The element has no place on the screen.",
    "Give an area inside the frame, or scroll until the element is seen as a whole.",
    { frame: { width, height } },
  );
}

export async function sizeOf(bytes: Uint8Array): Promise<{ width: number; height: number }> {
  const sharp = await loadSharp();
  const { width, height } = await sharp(bytes).metadata();
  return { width, height };
}

/** The area of the frame as PNG, with nothing in it that changes with time. */
export async function cropOf(frame: Frame, { x, y, width, height }: Area): Promise<Buffer> {
  const sharp = await loadSharp();
  return sharp(frame.bytes).extract({ left: x, top: y, width, height }).png().toBuffer();
}

/** Throws INVALID_INPUT unless the bytes are a whole PNG. */
export async function checkPng(bytes: Uint8Array, { name, device_model }: ReferenceDocument): Promise<void> {
  const sharp = await loadSharp();
  const isWhole = await sharp(bytes, { limitInputPixels: mostPixels, failOn: "truncated" })
    .stats()
    .then(
      () => true,
      () => false,
    );
  if (isWhole) return;
  throw new ToolError(
    "INVALID_INPUT",
    `The reference "${name}" of ${device_model} has a png that is damaged or too large.`,
    "Nothing was imported. Export the userinterface again, or take that reference out.",
    { reference: name },
  );
}
