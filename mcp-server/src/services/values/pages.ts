import { estimateTokens } from "./tokens.ts";

/** No item has fewer tokens. */
const fewestTokens = 20;

/** How many items to ask a database for, so that more never fit. */
export const mostFitting = (maxTokens: number): number => Math.ceil(maxTokens / fewestTokens);

export type Page<Item> = { items: Item[]; more: number };

/** As many items from `offset` on as fit into `maxTokens`, at least one; `more` is how many are left. */
export function pageOf<Item>(items: readonly Item[], offset: number, maxTokens: number): Page<Item> {
  const page: Item[] = [];
  let used = 0;
  for (const item of items.slice(offset)) {
    used += estimateTokens(`${JSON.stringify(item)},`);
    if (page.length > 0 && used > maxTokens) break;
    page.push(item);
  }
  return { items: page, more: Math.max(0, items.length - offset - page.length) };
}
