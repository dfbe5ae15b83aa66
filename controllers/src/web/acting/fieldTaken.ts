/**
 * Whether a field that holds `held` has taken the text `asked`:
 * - it holds that text, whatever its case and white space (a field may trim, or write in capitals);
 * - it has added or replaced only marks, as masks do: "(555) 123-4567" for "5551234567" or "555-123-4567", "30/11/2026" for
 *   "30.11.2026", "+1 555 …" with a country code;
 * - it holds the same number: "1,234.50 €" for "1234.5".
 * It has not if a letter or digit is missing, added or different, or if a sign, a decimal point or any other character, such as
 * `@`, is gone.
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

/** Characters that masks add. */
const MARK = /[()\-./,:_+%$€£¥#*–—|]/;

/** All typed characters are there in their order, with marks between them. */
function isFormatted(want: string, have: string): boolean {
  let at = 0;
  for (const character of have) {
    if (character === want[at]) at++;
    else if (!MARK.test(character)) return false;
  }
  return at === want.length;
}

/** The same digits with other marks. A typed point, slash or colon needs a mark at its place. */
function isRegrouped(want: string, have: string): boolean {
  if (!/^[\d()\-./:+]*\d[\d()\-./:+]*$/.test(want) || /^-/.test(want) !== /^-/.test(have)) return false;
  const digits = have.replace(/\D/g, "");
  const wanted = want.replace(/\D/g, "");
  // A country code may come first.
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

/** Both are the same number with either decimal sign, apart from a currency or percent sign. */
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
