import type { ControllerContext } from "../contract.ts";
import type { Seen } from "../vision/seen.ts";
import { type ReadTextOptions, readText } from "../vision/text.ts";

/** A picture without text is read as letters here and there, with less confidence. */
const leastConfidence = 0.6;

/** The lines of text over a running picture, as {@link readText} reads them, without what is noise. */
export async function legible(
  context: ControllerContext,
  seen: Seen,
  options: ReadTextOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const lines = await readText(context, seen, options, signal);
  return lines
    .filter(({ text, confidence }) => confidence >= leastConfidence && /[\p{L}\p{N}]{2}/u.test(text))
    .map(({ text }) => text);
}
