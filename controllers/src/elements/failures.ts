import { DeviceError } from "../errors.ts";
import type { ParsedSelector } from "./selectors.ts";

/** What an error ends with that names the nearest. */
export function orNearest(nearest: readonly string[]): string {
  return nearest.length > 0 ? `; nearest: ${nearest.join(" · ")}` : "";
}

/** ELEMENT_NOT_FOUND. `nearest` are selectors of what is on the screen, best first. */
export function notFound(
  parsed: ParsedSelector,
  selector: string,
  { afterMs, nearest }: { afterMs: number; nearest: readonly string[] },
): DeviceError {
  const hint = otherReading(parsed, selector) ?? orNearest(nearest);
  return new DeviceError(
    "ELEMENT_NOT_FOUND",
    `Nothing matches ${JSON.stringify(selector)} after ${Math.round(afterMs)} ms${hint || "; dump_ui_elements shows what is there"}`,
    { selector, nearest },
  );
}

/** ELEMENT_AMBIGUOUS. `candidates` say for each, up to six, by which selector it is meant and what it is. */
export function ambiguous(selector: string, count: number, candidates: readonly string[]): DeviceError {
  return new DeviceError(
    "ELEMENT_AMBIGUOUS",
    `${count} elements match ${JSON.stringify(selector)}; use one of: ${candidates.join(" · ")}`,
    { selector, candidates },
  );
}

/** What else may have been meant by a bare selector. */
function otherReading(parsed: ParsedSelector, selector: string): string | undefined {
  if (parsed.kind === "any" && /^\[\S|\s>\s/.test(selector))
    return `; a CSS selector is written css=${selector}`;
  const isBare = /^\s*[#.]/.test(selector) && parsed.kind === "css";
  return isBare
    ? `; it was read as CSS: a name or text is written in quotes, ${JSON.stringify(selector)}`
    : undefined;
}
