import type { InpageNear } from "../names/near.ts";
import { native } from "../tree/native.ts";
import type { SeenElement } from "./records.ts";

/** Captions of things that belong together though no mark-up says so, as the days of a month. Runs inside the page. */
export class InpageGroups {
  private readonly fewest = 5;

  constructor(private readonly near: InpageNear) {}

  /** The same list, with a row for the caption before each run of siblings to press whose names say little. */
  withCaptions(
    seen: readonly SeenElement[],
    elementOf: (seen: SeenElement) => Element | undefined,
    rowFor: (element: Element, depth: number, name: string) => SeenElement,
  ): SeenElement[] {
    const out: SeenElement[] = [];
    let caption = "";
    for (let at = 0; at < seen.length; ) {
      const run = this.runFrom(seen, at);
      const group = run.length >= this.fewest ? this.parentOf(run, elementOf) : undefined;
      const said = group ? this.near.caption(group) : "";
      const isTold =
        said === caption ||
        seen.slice(Math.max(0, at - 12), at).some(({ name, text }) => name === said || text === said);
      const [first] = run;
      if (group && first && said !== "" && !isTold) {
        out.push(rowFor(group, first.depth, said));
        caption = said;
      }
      out.push(...(run.length > 0 ? run : seen.slice(at, at + 1)));
      at += Math.max(1, run.length);
    }
    return out;
  }

  private runFrom(seen: readonly SeenElement[], at: number): SeenElement[] {
    const first = seen[at];
    const isShort = ({ interactive, name, role }: SeenElement) =>
      interactive && /^(clickable|button|gridcell|option)$/.test(role) && name.length > 0 && name.length <= 3;
    let end = at;
    for (let one = seen[end]; one && isShort(one) && one.role === first?.role; one = seen[end]) end++;
    return seen.slice(at, end);
  }

  private parentOf(
    run: readonly SeenElement[],
    elementOf: (seen: SeenElement) => Element | undefined,
  ): Element | undefined {
    const parents = run.slice(0, this.fewest).map((one) => {
      const element = elementOf(one);
      return element && native.parentElement(element);
    });
    const [parent] = parents;
    return parent && parents.every((one) => one === parent) && parent !== native.body(document)
      ? parent
      : undefined;
  }
}
