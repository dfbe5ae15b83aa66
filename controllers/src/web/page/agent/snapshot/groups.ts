/** Adds rows for groups that no mark-up names, such as the days of a month. */

import type { SeenElement } from "../answers.ts";
import * as near from "../names/near.ts";
import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import * as records from "./records.ts";
import * as refs from "./refs.ts";

const fewest = 5;

/** Adds a row for each sign that several neighbours share, unless the row before them has it. */
export function withSigns(seen: readonly SeenElement[]): SeenElement[] {
  const isAlike = (one: SeenElement, { apart, depth }: SeenElement) =>
    one.apart !== undefined && one.apart !== "" && one.apart === apart && one.depth === depth;
  return withRows(seen, isAlike, (run, at) => {
    const [first] = run;
    const isSaid = at > 0 && seen[at - 1]?.apart === undefined;
    if (!first || run.length < 2 || isSaid) return undefined;
    const said = /^by "(.*)"$/.exec(first.apart ?? "")?.[1];
    const element = refs.element(first.ref);
    const parent = element && dom.parent(element);
    if (said === undefined || !parent) return undefined;
    const row = records.group(parent, said, first.depth);
    for (const one of run) one.depth++;
    return row;
  });
}

/** Adds a row with the caption of each run of sibling widgets with very short names. */
export function withCaptions(seen: readonly SeenElement[]): SeenElement[] {
  let caption = "";
  const isShort = ({ interactive, name, role }: SeenElement) =>
    interactive && /^(clickable|button|gridcell|option)$/.test(role) && name.length > 0 && name.length <= 3;
  const isAlike = (one: SeenElement, first: SeenElement) =>
    isShort(one) && isShort(first) && one.role === first.role;
  return withRows(seen, isAlike, (run, at) => {
    const [first] = run;
    const group = run.length >= fewest ? parentOf(run) : undefined;
    if (!first || !group) return undefined;
    const said = near.caption(group);
    const before = seen.slice(Math.max(0, at - 12), at);
    const isSaid = said === caption || before.some(({ name, text }) => name === said || text === said);
    if (said === "" || isSaid) return undefined;
    caption = said;
    return records.group(group, said, first.depth);
  });
}

/** Calls `rowFor` for each run of similar neighbours, which begins at `at`, and puts its row before the run. */
function withRows(
  seen: readonly SeenElement[],
  isAlike: (one: SeenElement, first: SeenElement) => boolean,
  rowFor: (run: readonly SeenElement[], at: number) => SeenElement | undefined,
): SeenElement[] {
  const out: SeenElement[] = [];
  for (let at = 0; at < seen.length; ) {
    const start = at;
    const first = seen[at++];
    for (let one = seen[at]; one && first && isAlike(one, first); one = seen[at]) at++;
    const run = seen.slice(start, at);
    const row = rowFor(run, start);
    out.push(...(row ? [row] : []), ...run);
  }
  return out;
}

function parentOf(run: readonly SeenElement[]): Element | undefined {
  const parents = run.slice(0, fewest).map((one) => {
    const element = refs.element(one.ref);
    return element && native.parentElement(element);
  });
  const [parent] = parents;
  return parent && parents.every((one) => one === parent) && parent !== native.body(document)
    ? parent
    : undefined;
}
