import type { Suites } from "../sides.ts";
import { measureImages } from "./images.ts";

/** TVs and set-top boxes by picture, sound and remote. */
export const step15: Suites = { images: measureImages };
