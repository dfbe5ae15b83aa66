import type { Parts } from "./types.ts";

/** How long "wait for" waits when it does not say. */
const waitMs = 30_000;
const longestWaitMs = 600_000;

export const verb =
  "(?:check|verify|ensure|assert|confirm|make sure|expect|vérifie[rz]?|prüfe|überprüfe)(?: that| if| whether| que|,? dass)?,? ";
export const maybeVerb = `(?:${verb})?`;
export const is =
  "(?:is|are|be|becomes|(?:should|must|can)(?<should> not)? be|to be|est|sont)(?: still| now)?";
export const not = "(?<not> not| no longer| pas)?";
export const shown =
  "(?:visible|shown|displayed|present|open|there|seen|on (?:the )?(?:screen|page)|affichée?|angezeigt|sichtbar)";
/** Before a verb that says what something holds. */
export const may = "(?:(?:(?:should|must|do|does|will|to)(?<mayNot> not)?|(?<never>no longer)) )?";
export const contains = "(?:contains?|includes?)";
export const has = "(?:has|have|shows?|holds?|reads?|displays?)";
export const exactly = "(?<exactly> exactly)?";
export const wait = "(?:wait (?:for|until|till)|attend(?:s|re|ez)(?: que)?|warte(?: auf)?) ";
export const time =
  "(?: (?:for )?(?:up to |at most )?(?<time>\\d+) ?(?<unit>ms|milliseconds?|s|sec|seconds?|min|minutes?))";

export function millisecondsOf(part: Parts): number {
  const unit = part("unit").toLowerCase();
  const factor =
    unit.startsWith("ms") || unit.startsWith("milli") ? 1 : unit.startsWith("m") ? 60_000 : 1_000;
  return part("time") === "" ? waitMs : Math.min(Number(part("time")) * factor, longestWaitMs);
}
