import { estimateTokens } from "../screen/tokens.ts";

/** Counts, names of fields and what else is said beside the items. */
const besideTokens = 60;
/** No item has fewer. */
const fewestTokens = 20;

/** How many items to ask the database for, so that more never fit. */
export const mostFitting = (maxTokens: number): number => Math.ceil(maxTokens / fewestTokens);

/** The first items that fit into `maxTokens`, at least one. */
export function fitting<Item>(items: readonly Item[], maxTokens: number): Item[] {
  const page: Item[] = [];
  let left = maxTokens - besideTokens;
  for (const item of items) {
    left -= estimateTokens(JSON.stringify(item));
    if (page.length > 0 && left < 0) break;
    page.push(item);
  }
  return page;
}
