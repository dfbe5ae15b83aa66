import type { ReadWord } from "../vision/textLines.ts";

/** One text of a screen that a person would call one thing, or a saved picture that was found: then `text` is its name. */
export type Item = ReadWord & { isPicture?: true };
