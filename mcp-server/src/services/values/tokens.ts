/** About how many o200k tokens a text has: slightly too many for short words, never far below (a test compares). */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [part] of text.matchAll(/\p{L}+|\d{1,3}|\n[^\S\n]*|[^\S\n]{2,}|[^\p{L}\d\s]{1,2}/gu)) {
    tokens += /^[a-z]+$/i.test(part)
      ? 1 + Math.floor((part.length - 1) / 8)
      : Math.ceil(new TextEncoder().encode(part).length / 3);
  }
  return tokens;
}
