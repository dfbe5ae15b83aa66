import { stripVTControlCharacters } from "node:util";

/** Control characters but line feed and tab; and what turns the direction of text, which can make it read as another. */
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * Text that others wrote (a model, a page, a device) as it may reach a terminal: without escape sequences and control
 * characters, lines ended by line feeds. An escape sequence that is cut between two pieces loses its escape character, and
 * its rest is only text.
 */
export function plain(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r\n?/g, "\n")
    .replace(unsafe, (character) => (character === "\n" || character === "\t" ? character : ""));
}

/** The same in one line of at most `max` characters. */
export function plainLine(text: string, max: number): string {
  // What is cut away need not be read.
  const line = plain(text.slice(0, max * 20))
    .replace(/\s+/g, " ")
    .trim();
  const characters = Array.from(line);
  return characters.length <= max ? line : `${characters.slice(0, max - 1).join("")}…`;
}

/** JSON in one line that a terminal shows as it is. JSON itself lets the characters after ASCII's through. */
export function jsonLine(value: unknown): string {
  const escaped = JSON.stringify(value).replace(
    unsafe,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${escaped}\n`;
}
