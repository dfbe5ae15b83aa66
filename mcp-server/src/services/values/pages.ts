/** JSON of names and ids takes about a token for 2.5 characters (o200k, measured on lists of nodes with UUIDs). */
const charactersPerToken = 2.5;

/** No item has fewer tokens. */
const fewestTokens = 20;

/** How many items to ask a database for, so that more never fit. */
export const mostFitting = (maxTokens: number): number => Math.ceil(maxTokens / fewestTokens);

export type Page<Item> = { items: Item[]; more: number };

/** As many items from `offset` on as fit into `maxTokens`, at least one; `more` is how many are left. */
export function pageOf<Item>(items: readonly Item[], offset: number, maxTokens: number): Page<Item> {
  const budget = maxTokens * charactersPerToken;
  const page: Item[] = [];
  let used = 0;
  for (const item of items.slice(offset)) {
    used += JSON.stringify(item).length + 1;
    if (page.length > 0 && used > budget) break;
    page.push(item);
  }
  return { items: page, more: Math.max(0, items.length - offset - page.length) };
}
