import type { Suites } from "../sides.ts";
import { measureCapture } from "./capture.ts";

/** TVs by picture and sound: what it costs to watch one. */
export const step15: Suites = { capture: measureCapture };
