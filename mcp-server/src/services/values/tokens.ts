/**
 * About how many o200k tokens a text has: a little more than it really has for the short quoted words that dumps are made
 * of, and never far below (a test holds it against the tokenizer). Cheap enough to be asked for every line.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [part] of text.matchAll(/\p{L}+|\d{1,3}|\n[^\S\n]*|[^\S\n]{2,}|[^\p{L}\d\s]{1,2}/gu)) {
    tokens += /^[a-z]+$/i.test(part)
      ? 1 + Math.floor((part.length - 1) / 8)
      : Math.ceil(new TextEncoder().encode(part).length / 3);
  }
  return tokens;
}
