import { z } from "zod";
import { ofSubject } from "../elements/readings.ts";

export const orientations = ["portrait", "landscape"] as const;
export type Orientation = (typeof orientations)[number];
type Size = { width: number; height: number };

export const noTurning = "A TV does not turn. Use a phone for what depends on rotation.";

/** As every driver of a phone offers it; a driver adds optional parameters of its own. */
export const rotateOffer = {
  name: "rotate",
  description: "Turns the screen. An app may fix its own rotation; the answer says how the screen stands.",
  effect: "write",
  input: z.strictObject({
    to: z.enum(orientations).describe("portrait: it stands upright; landscape: it lies."),
  }),
} as const;

export const orientationOffer = {
  name: "orientation_is",
  description: "The screen stands upright (portrait) or lies (landscape)",
  input: z.strictObject({ orientation: z.enum(orientations) }),
  judges: ofSubject,
};

/** How a screen of this natural size stands when it is turned by so many degrees. */
export const orientationAt = ({ width, height }: Size, angle: number): Orientation =>
  (angle % 180 === 0) === height >= width ? "portrait" : "landscape";

/** What `rotate` tells. */
export const turned = (to: Orientation, now: Orientation | undefined): string =>
  now === to
    ? `the screen is in ${to}`
    : `the screen stays in ${now ?? "an unknown position"}: the app in front keeps its own rotation`;
