/** How a text is compared: `same` and `contains` after {@link tidy} and case folding, `cased` after tidying alone, `exact` as it stands, `pattern` as a regular expression. */
export type TextMatch = {
  match: "same" | "cased" | "exact" | "contains" | "pattern";
  text: string;
  flags?: string;
};

/** White space folded, and the characters gone that nobody can see: zero width, icon fonts, tags, controls. Sent to pages as source text: it refers to nothing outside itself. */
export function tidy(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zs}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(
      /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF\uE000-\uF8FF]|[\u{E0000}-\u{E0FFF}\u{F0000}-\u{10FFFF}]/gu,
      "",
    )
    .replace(/ +/g, " ")
    .trim();
}

/** Tidy and without case: how texts compare unless the caller asks for more. */
export const fold = (text: string): string => tidy(text).toLowerCase();

/**
 * Compares texts of a screen with what a selector asks for. `clean` is {@link tidy} or more. Sent to pages as source text: it
 * refers to nothing outside itself but its constructor's argument.
 */
export class TextMatcher {
  constructor(private readonly clean: (text: string) => string) {}

  holds(wanted: TextMatch, text: string | undefined): boolean {
    if (text === undefined) return false;
    if (wanted.match === "exact") return text === wanted.text;
    const found = this.clean(text);
    if (wanted.match === "pattern") return new RegExp(wanted.text, wanted.flags).test(found);
    const want = this.clean(wanted.text);
    if (wanted.match === "cased") return this.isSame(found, want);
    const [folded, low] = [found.toLowerCase(), want.toLowerCase()];
    return wanted.match === "same" ? this.isSame(folded, low) : folded.includes(low);
  }

  /** The same, or what a dump shows of it: its beginning, and how much more there is. */
  private isSame(found: string, want: string): boolean {
    if (found === want) return true;
    const [, head, more] = /^([\s\S]+) … (\d+)(?:\+)? more$/.exec(want) ?? [];
    return head !== undefined && found.startsWith(head) && found.length === head.length + Number(more);
  }
}
