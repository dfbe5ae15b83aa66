/** How a name compares: case and white space say nothing. */
const fold = (text: string): string => text.toLowerCase().replace(/\s+/g, " ").trim();

const article = /^(?:the|an?|le|la|les|l'|der|die|das|den|dem)\s+/i;
const placeNoun = /\s+(?:screen|page|tab|view|node|menu|écran|onglet|seite|bildschirm)$/i;

/**
 * What of `known` is called `said`, the longest reading first: with its article and its noun ("Settings page"), then
 * without. Several of one name, in one way of writing, are all returned.
 */
export function called<Known>(
  said: string,
  known: readonly Known[],
  nameOf: (one: Known) => string,
): Known[] {
  const short = said.replace(article, "");
  for (const name of [said, short, said.replace(placeNoun, ""), short.replace(placeNoun, "")]) {
    const same = known.filter((one) => fold(nameOf(one)) === fold(name));
    const exact = same.filter((one) => nameOf(one) === name);
    if (same.length > 0) return exact.length > 0 ? exact : same;
  }
  return [];
}
