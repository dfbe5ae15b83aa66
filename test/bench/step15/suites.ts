import type { Suites } from "../sides.ts";
import { measureTexts } from "./texts.ts";

/** TVs by picture, sound and remote. */
export const step15: Suites = { texts: measureTexts };
