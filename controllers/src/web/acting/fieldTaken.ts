/**
 * Whether a field that holds `held` has taken the text `asked`, as a user would say. It has when
 * - the field holds that text, whatever its case and white space (a field may trim, or write in capitals);
 * - the field has only put marks between its characters, or has put other marks in place of those typed, as masks do:
 *   "(555) 123-4567" for "5551234567" or "555-123-4567", "30/11/2026" for "30.11.2026", "+1 555 …" with a country's number;
 * - it is the same number: "1,234.50 €" for "1234.5".
 * It has not when a letter or digit is missing, more or other; when a sign or a decimal point is gone; or when any other
 * character is gone, such as `@`.
 */
export function isTaken(asked: string, held: string): boolean {
  const want = fold(asked);
  const have = fold(held);
  return have === want || isFormatted(want, have) || isRegrouped(want, have) || isSameNumber(asked, held);
}

const fold = (text: string): string =>
  text
    .normalize("NFKC")
    .replace(/[\s\u200b-\u200f\u2060\ufeff]+/g, "")
    .toLowerCase();

/** What masks put between the characters of a text, and where none has been typed yet. */
const MARK = /[()\-./,:_+%$€£¥#*–—|]/;

/** Everything that was typed is there in its order, with marks between. */
function isFormatted(want: string, have: string): boolean {
  let at = 0;
  for (const character of have) {
    if (character === want[at]) at++;
    else if (!MARK.test(character)) return false;
  }
  return at === want.length;
}

/** The same digits with other marks between them. A point or slash between two digits stays a mark there. */
function isRegrouped(want: string, have: string): boolean {
  if (!/^[\d()\-./:+]*\d[\d()\-./:+]*$/.test(want) || /^-/.test(want) !== /^-/.test(have)) return false;
  const digits = have.replace(/\D/g, "");
  const wanted = want.replace(/\D/g, "");
  // A country's number stands before the rest.
  const more = digits.length - wanted.length;
  const isCountry = /^\+/.test(have) && more >= 1 && more <= 3 && digits.endsWith(wanted);
  if (digits !== wanted && !isCountry) return false;
  if ([...have].some((character) => !/\d/.test(character) && !MARK.test(character))) return false;
  const breaks = breaksOf(have, /\D/).map((at) => at - Math.max(more, 0));
  return breaksOf(want, /[./:]/).every((at) => breaks.includes(at));
}

/** Digit counts after which a separator appears (edges excluded). */
function breaksOf(text: string, mark: RegExp): number[] {
  let digits = 0;
  return [...text].flatMap((character) => {
    if (/\d/.test(character)) digits++;
    else if (mark.test(character) && digits > 0) return [digits];
    return [];
  });
}

/** Both read as numbers in one of the two ways to write them, apart from a currency or percent sign. */
function isSameNumber(asked: string, held: string): boolean {
  const all = (text: string) => [numberOf(text, ",", "."), numberOf(text, ".", ",")];
  const wanted = all(asked);
  return all(held).some((number) => number !== undefined && wanted.includes(number));
}

function numberOf(text: string, group: string, point: string): number | undefined {
  const plain = text.replace(/[\s'’\u00a0]|\p{Sc}|%/gu, "");
  const [whole = "", fraction = "", ...others] = plain.split(point);
  const digits = whole.replace(/^[-+]/, "");
  const isGrouped = new RegExp(`^\\d{1,3}(\\${group}\\d{3})+$`).test(digits);
  if (others.length > 0 || !/^\d*$/.test(fraction) || !(isGrouped || /^\d+$/.test(digits))) return undefined;
  return Number(`${whole.replaceAll(group, "")}.${fraction || "0"}`);
}
