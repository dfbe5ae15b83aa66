import { stripVTControlCharacters } from "node:util";

/** Control characters but line feed and tab; and what turns the direction of text, which can make it read as another. */
const unsafe = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Text made harmless for a terminal: without escape sequences and control characters, lines ended by line feeds. */
export const plain = (text: string): string =>
  stripVTControlCharacters(text).replace(/\r\n?/g, "\n").replace(unsafe, "");

/** The same in one line of at most `max` characters. */
export function plainLine(text: string, max: number): string {
  // What is cut away need not be read.
  const line = plain(text.slice(0, max * 20))
    .replace(/\s+/g, " ")
    .trim();
  const characters = Array.from(line);
  return characters.length <= max ? line : `${characters.slice(0, max - 1).join("")}…`;
}

/** JSON in one line that is harmless too: JSON itself escapes only ASCII's control characters. */
export function jsonLine(value: unknown): string {
  const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(value).replace(unsafe, toEscape)}\n`;
}
