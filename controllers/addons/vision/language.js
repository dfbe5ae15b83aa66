import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** How sure the best language must be, 0 to 1, and how much surer than the next one. */
const sureFrom = 0.25;
const surerBy = 2;

/** The language of a text by its ISO 639-2 code; undefined where it may be another one as well. */
export function languageOf(text) {
  const { detectAll, toISO3 } = require("tinyld");
  const [best, next] = detectAll(text);
  if (!best || best.accuracy < sureFrom || best.accuracy < surerBy * (next?.accuracy ?? 0)) return undefined;
  return toISO3(best.lang);
}
