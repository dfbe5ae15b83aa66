/** A sentence with its quoted parts taken out: `text` holds a mark for each, which {@link unmark} puts back. */
export type Sentence = { text: string; quoted: readonly string[] };

/** Stands for a quoted part; its number follows. */
const sign = "\u0001";
export const quotedMark = `${sign}\\d+`;

const quotes =
  /"([^"\n]*)"|“([^”\n]*)”|„([^“”\n]*)[“”]|«\s*([^»\n]*?)\s*»|(?<![\p{L}\p{N}])'([^'\n]+)'(?![\p{L}\p{N}])/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const control = /[\u0000-\u0009\u000b-\u001f\u007f]/g;
const numbering = /^\s*(?:(?:step|étape|schritt)\s+)?(?:\d+\s*[.):]|[-*•])?\s*/iu;

/** The sentences of a description, one for each line, full stop or semicolon; numbers and bullets before them are left out. */
export function sentencesOf(description: string): Sentence[] {
  const quoted: string[] = [];
  const marked = description.replace(control, " ").replace(quotes, (_, ...groups: unknown[]) => {
    const said = groups.slice(0, 5).find((group) => typeof group === "string");
    quoted.push(String(said ?? ""));
    return `${sign}${quoted.length - 1}`;
  });
  return marked
    .split("\n")
    .flatMap((line) => line.replace(numbering, "").split(/(?<=[.!])\s+|;\s*/))
    .map((text) =>
      text
        .replace(/\s+/g, " ")
        .replace(/[\s.!,]+$/, "")
        .trim(),
    )
    .filter((text) => text !== "")
    .map((text) => ({ text, quoted }));
}

/** The text as it was written, its quoted parts in double quotes; one that is all quoted, without them. */
export function unmark({ text, quoted }: Sentence): string {
  const partAt = (mark: string) => quoted[Number(mark.slice(sign.length))] ?? "";
  if (new RegExp(`^${quotedMark}$`).test(text)) return partAt(text);
  return text.replace(new RegExp(quotedMark, "g"), (mark) => `"${partAt(mark)}"`);
}

/** The ways to split a sentence in two, the shortest first half first. */
export function halvesOf({ text, quoted }: Sentence): { first: Sentence; rest: Sentence }[] {
  return [
    ...text.matchAll(/(?:,\s*)?\s(?:and then|then|and|et puis|puis|et|und dann|dann|und)\s|,\s/giu),
  ].map(({ index, 0: { length } }) => ({
    first: { text: text.slice(0, index).trim(), quoted },
    rest: { text: text.slice(index + length).trim(), quoted },
  }));
}
