import type { Suites } from "../sides.ts";
import { measureZaps } from "./zaps.ts";

/** TVs and set-top boxes by picture, sound and remote. */
export const step15: Suites = { zaps: measureZaps };
