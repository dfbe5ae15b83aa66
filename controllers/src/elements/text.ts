/**
 * How a text is compared: `same` and `contains` after {@link tidy} and case folding, `words` like `contains` but never with a
 * part of a word or number, `cased` after tidying alone, `exact` as it stands.
 */
export type PlainMatch = { match: "same" | "cased" | "exact" | "words" | "contains"; text: string };

/** A regular expression, which `testPattern` compares with texts. */
export type PatternMatch = { match: "pattern"; text: string; flags?: string };

export type TextMatch = PlainMatch | PatternMatch;

/**
 * Composed characters (NFC), white space folded, and invisible characters removed: zero width, icon fonts, tags, controls. A
 * no-break or thin space between the thousands of a number stays, as U+00A0; so do the joints of an emoji. Full-width and
 * other look-alike forms stay as they are (no NFKC): a reader sees that they differ. Sent to pages as source text: it refers
 * to nothing outside itself.
 */
export function tidy(text: string): string {
  return text
    .normalize("NFC")
    .replace(
      /(?<=\p{Nd})([\u00A0\u2007-\u2009\u202F])(?=\p{Nd}{3}(?!\p{Nd}))|[\p{Cc}\p{Zs}\p{Zl}\p{Zp}]+/gu,
      (_, thousands) => (thousands === undefined ? " " : "\u00A0"),
    )
    .replace(
      /(?!(?<=\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]*)\u200D(?=\p{Extended_Pictographic}))[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF\uE000-\uF8FF]|(?<!\u{1F3F4}[\u{E0020}-\u{E007F}]*)[\u{E0000}-\u{E0FFF}]|[\u{F0000}-\u{10FFFF}]/gu,
      "",
    )
    .replace(/ +/g, " ")
    .trim();
}

/**
 * Compares texts of a screen with what a selector or check asks for. `clean` is {@link tidy} or more. Sent to pages as source
 * text: it refers to nothing outside itself but its constructor's argument.
 */
export class TextMatcher {
  /** One word, number, character of a script without spaces, or emoji: nothing matches a part of these. */
  private readonly unit = this.unitPattern();

  constructor(private readonly clean: (text: string) => string) {}

  holds(wanted: PlainMatch, text: string | undefined): boolean {
    if (text === undefined) return false;
    if (wanted.match === "exact") return text.normalize("NFC") === wanted.text.normalize("NFC");
    if (wanted.match === "cased") return this.isSame(this.plain(text), this.plain(wanted.text));
    const [found, want] = [this.fold(text), this.fold(wanted.text)];
    if (wanted.match === "same") return this.isSame(found, want);
    if (want === "") return found === "";
    if (wanted.match === "contains") return found.includes(want);
    return found.includes(want) ? this.hasWhole(text, want, 0) : this.hasBeginning(text, found, want);
  }

  fold(text: string): string {
    return this.plain(text).toLowerCase();
  }

  words(text: string): string[] {
    const units = this.shown(text).toLowerCase().match(this.unit) ?? [];
    return units.filter((unit) => /[\p{L}\p{N}]/u.test(unit)).map((unit) => unit.replaceAll("\u00A0", " "));
  }

  /** As patterns are compared with: clean, with plain spaces. */
  plain(text: string): string {
    return this.shown(text).replaceAll("\u00A0", " ");
  }

  /** Clean, with the spaces between thousands; the selectors of an emoji's style say nothing. */
  private shown(text: string): string {
    return this.clean(text).replace(/[\uFE0E\uFE0F]/g, "");
  }

  /** The same, or what a dump shows of it: its beginning, and how much more there is. */
  private isSame(found: string, want: string): boolean {
    if (found === want) return true;
    const cut = this.cutText(want);
    return cut !== undefined && found.startsWith(cut.head) && found.length === cut.head.length + cut.more;
  }

  /** A text that a dump cut: its beginning stands there, with as much after it as the dump says. */
  private hasBeginning(text: string, found: string, want: string): boolean {
    const cut = this.cutText(want);
    return cut !== undefined && found.includes(cut.head) && this.hasWhole(text, cut.head, cut.more);
  }

  private cutText(want: string): { head: string; more: number } | undefined {
    const [, head, more] = /^([\s\S]+) … (\d+)(?:\+)? more$/.exec(want) ?? [];
    return head === undefined ? undefined : { head, more: Number(more) };
  }

  /** `more`: so many characters follow, and then the end of `want` may lie within a word. */
  private hasWhole(text: string, want: string, more: number): boolean {
    const shown = this.shown(text).toLowerCase();
    const found = shown.replaceAll("\u00A0", " ");
    const own = this.unitsOf(want);
    let around = { from: 0, to: -1, units: own };
    for (let at = found.indexOf(want); at >= 0; at = found.indexOf(want, at + 1)) {
      const end = at + want.length;
      around = this.unitsAround(shown, at, end, around);
      const begins = this.isEdge(around.units.inner, around.units.from, at - around.from, own.from.get(0));
      const ends = this.isEdge(
        around.units.inner,
        around.units.to,
        end - around.from,
        own.to.get(want.length),
      );
      if (begins && (more > 0 ? found.length >= end + more : ends)) return true;
    }
    return false;
  }

  /** No unit goes over the place, and the one that begins or ends there is not shorter than that of the wanted text. */
  private isEdge(
    inner: ReadonlySet<number>,
    lengths: ReadonlyMap<number, number>,
    at: number,
    least = 0,
  ): boolean {
    return !inner.has(at) && (lengths.get(at) ?? 0) >= least;
  }

  /** Units of the text from one white space to another: no unit goes over one. `before` is kept where it is the same part. */
  private unitsAround(
    text: string,
    at: number,
    end: number,
    before: { from: number; to: number; units: ReturnType<TextMatcher["unitsOf"]> },
  ) {
    // A place in the same part needs no search: one in a long text without spaces would be quadratic.
    if (before.from <= at && end <= before.to) return before;
    const from = at < before.to ? before.from : text.lastIndexOf(" ", at) + 1;
    const space = text.indexOf(" ", end);
    const to = space < 0 ? text.length : space;
    return { from, to, units: this.unitsOf(text.slice(from, to)) };
  }

  /** Lengths of the units by where they begin and end, and the places within them. */
  private unitsOf(text: string) {
    const [from, to] = [new Map<number, number>(), new Map<number, number>()];
    const inner = new Set<number>();
    for (const { 0: unit, index } of text.matchAll(this.unit)) {
      from.set(index, unit.length);
      to.set(index + unit.length, unit.length);
      for (let at = 1; at < unit.length; at++) inner.add(index + at);
    }
    return { from, to, inner };
  }

  /**
   * Words by the rules of Unicode (UAX 29), except: a point joins digits only, and an elided article is a word (l'eau). A
   * number has its sign, its signs of decimals and thousands, and what makes it a time or a date.
   */
  private unitPattern(): RegExp {
    const spaceless =
      "[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]";
    const letter = `(?!${spaceless})[\\p{L}\\p{N}_]\\p{M}*`;
    const elided =
      "(?<![\\p{L}\\p{M}\\p{N}_])(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|(?:d|n|s)?[ae]ll|dell|nell|sull|un)";
    const joint =
      "(?<=\\p{Nd})[.,'’٫٬\\u00A0](?=\\p{Nd})|(?<=(?<![\\p{Nd}.,])\\p{Nd}{1,2}):(?=\\p{Nd}{2}(?!\\p{Nd}))|" +
      `(?<=\\p{L}\\p{M}*)(?<!${elided})['’](?=\\p{L})`;
    const sign = "(?:(?<![\\p{L}\\p{M}\\p{N}_)\\]}%-])[-−–]\\p{Sc}?(?=[.,]?\\p{Nd}))?";
    const point = "(?:(?<![\\p{L}\\p{M}\\p{N}_])[.,](?=\\p{Nd}))?";
    const date =
      "\\p{Nd}{4}([-/])\\p{Nd}{1,2}\\1\\p{Nd}{1,2}(?!\\p{Nd})|\\p{Nd}{1,2}([-/])\\p{Nd}{1,2}\\2\\p{Nd}{2,4}(?!\\p{Nd})";
    const picture = "\\p{Extended_Pictographic}[\\p{Emoji_Modifier}\\p{M}\\u{E0020}-\\u{E007F}]*";
    return new RegExp(
      `\\p{Regional_Indicator}{2}|${picture}(?:\\u200D${picture})*|${date}|` +
        `${sign}${point}${letter}(?:${letter}|(?:${joint})${letter})*|${spaceless}\\p{M}*|\\S\\p{M}+`,
      "gu",
    );
  }
}

const texts = new TextMatcher(tidy);

export const fold = (text: string): string => texts.fold(text);

/** The words and numbers of a text, whole and folded. */
export const wholeWords = (text: string): string[] => texts.words(text);

export const holds = (wanted: PlainMatch, text: string | undefined): boolean => texts.holds(wanted, text);

/** Of a text that was not found by whole words: the first that has it as a part of another word or number. */
export function withinAnother(wanted: string, found: Iterable<string>): string | undefined {
  for (const one of found)
    if (
      texts.holds({ match: "contains", text: wanted }, one) &&
      !texts.holds({ match: "words", text: wanted }, one)
    )
      return one;
  return undefined;
}
