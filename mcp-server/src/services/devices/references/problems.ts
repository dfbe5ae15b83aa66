import { ToolError } from "../../../errors.ts";

export function alreadyThere({ name, device_model }: { name: string; device_model: string }): ToolError {
  return new ToolError(
    "ALREADY_EXISTS",
    `There already is a reference "${name}" of ${device_model} in this userinterface.`,
    "Pass replace: true to put this one in its place, or choose another name.",
  );
}

export const twoPlaces = () =>
  new ToolError("INVALID_INPUT", "area and element both say where.", "Give one of them.");

export const imageWithText = () =>
  new ToolError("INVALID_INPUT", "An image has no text.", "Leave text out, or use kind: text.");

export const noPlace = (what: string) =>
  new ToolError(
    "INVALID_INPUT",
    what,
    "Give element, or area in pixels of the full frame; for kind: text, text itself will do.",
  );
