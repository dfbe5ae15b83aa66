import { escapeMarkup as e } from "./escape.ts";

/** A status as a coloured word. */
export const badge = (word: string) => `<span class="badge ${e(word)}">${e(word)}</span>`;
