import type { InpageNear } from "../names/near.ts";
import type { InpageDom } from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import type { SeenElement } from "./records.ts";

type Sign = (element: Element, at: number, alike: readonly Element[]) => string;

/** `isSeen`: a user sees it, so it also helps where several have it. */
type Kind = { of: Sign; isSeen?: boolean };

/** What tells elements of one role and one name from each other. Runs inside the page. */
export class InpageApart {
  /** Words are looked for among so many alike; more than these have only a number. */
  private readonly mostWords = 300;
  /** What twins are called. */
  private labels: ReadonlySet<string> = new Set();

  constructor(
    private readonly dom: InpageDom,
    private readonly near: InpageNear,
  ) {}

  /** Gives each element to press that shares role and name with others a sign of its own. */
  mark(
    seen: readonly SeenElement[],
    elementOf: (seen: SeenElement) => Element | undefined,
    testIdAttribute: string,
  ): InpageApart {
    const groups = this.twins(seen);
    this.labels = new Set(groups.flatMap(([one]) => one?.name ?? []));
    for (const group of groups) {
      const elements = group.flatMap((one) => elementOf(one) ?? []);
      const signs = this.signs(elements, group[0]?.name ?? "", testIdAttribute);
      for (const [at, one] of group.entries()) one.apart = signs[at] ?? "";
    }
    return this;
  }

  /** The same list, with a row for each sign that several neighbours share where nothing before them says it. */
  gathered(
    seen: readonly SeenElement[],
    elementOf: (seen: SeenElement) => Element | undefined,
    rowFor: (element: Element, depth: number, name: string) => SeenElement,
  ): SeenElement[] {
    const out: SeenElement[] = [];
    for (let at = 0; at < seen.length; ) {
      const run = this.sharingFrom(seen, at);
      const [first] = run;
      const row =
        first && run.length > 1 && !this.isTold(seen, at) ? this.rowOf(first, elementOf(first)) : undefined;
      if (row) {
        out.push(rowFor(row.element, first?.depth ?? 0, row.said));
        for (const one of run) one.depth++;
      }
      out.push(...(run.length > 0 ? run : seen.slice(at, at + 1)));
      at += Math.max(1, run.length);
    }
    return out;
  }

  /** What stands before these says what they are for. */
  private isTold(seen: readonly SeenElement[], at: number): boolean {
    return at > 0 && seen[at - 1]?.apart === undefined;
  }

  private rowOf(
    { apart }: SeenElement,
    element: Element | undefined,
  ): { element: Element; said: string } | undefined {
    const said = /^by "(.*)"$/.exec(apart ?? "")?.[1];
    const parent = element && this.dom.parent(element);
    return said !== undefined && parent ? { element: parent, said } : undefined;
  }

  private sharingFrom(seen: readonly SeenElement[], at: number): SeenElement[] {
    const first = seen[at];
    let end = at;
    for (
      let one = seen[end];
      one?.apart && one.apart === first?.apart && one.depth === first.depth;
      one = seen[end]
    )
      end++;
    return seen.slice(at, end);
  }

  private twins(seen: readonly SeenElement[]): SeenElement[][] {
    const groups = new Map<string, SeenElement[]>();
    for (const one of seen.filter(({ interactive }) => interactive)) {
      const key = `${one.role} ${one.name}`;
      const group = groups.get(key);
      if (group) group.push(one);
      else groups.set(key, [one]);
    }
    return [...groups.values()].filter((group) => group.length > 1);
  }

  /** One sign for each of several elements of one name: the first kind of sign that no other has, else one that few have. */
  signs(alike: readonly Element[], name: string, testIdAttribute: string): string[] {
    const signs = alike.map(() => "");
    const shared = alike.map(() => "");
    const kinds = alike.length > this.mostWords ? [] : this.kinds(name, testIdAttribute);
    for (const { of, isSeen } of kinds) {
      if (!signs.includes("")) break;
      const said = alike.map((element, at) => of(element, at, alike));
      this.fill(signs, (at) => (this.isAlone(said[at] ?? "", said) ? said[at] : ""));
      if (isSeen && new Set(said).size > 1) this.fill(shared, (at) => this.counted(at, said));
    }
    return signs.map((sign, at) => sign || shared[at] || `${at + 1} of ${alike.length}`);
  }

  private fill(signs: string[], signAt: (at: number) => string | undefined): void {
    for (const at of signs.keys()) signs[at] ||= signAt(at) ?? "";
  }

  private counted(at: number, all: readonly string[]): string {
    const sign = all[at] ?? "";
    const place = all.slice(0, at + 1).filter((one) => one === sign).length;
    return sign === "" ? "" : `${sign} ${place} of ${all.filter((one) => one === sign).length}`;
  }

  private isAlone(sign: string, all: readonly string[]): boolean {
    return sign !== "" && all.indexOf(sign) === all.lastIndexOf(sign);
  }

  private kinds(name: string, testIdAttribute: string): Kind[] {
    const said =
      (attribute: string, label: string): Sign =>
      (element) => {
        const value = this.dom.clean(native.getAttribute(element, attribute) ?? "");
        return value === "" || value === name ? "" : `${label} ${this.quoted(value)}`;
      };
    const testId: Sign = (element) => {
      const id = native.getAttribute(element, testIdAttribute);
      return id ? `testid ${this.dom.cut(id, 40)}` : "";
    };
    const ownId: Sign = (element) => {
      const id = native.id(element);
      return id !== "" && !/\d{3,}|[:«»]/.test(id) ? `#${this.dom.cut(id, 40)}` : "";
    };
    return [
      { of: (element, at, alike) => this.words(element, at, alike, name), isSeen: true },
      { of: said("title", "title") },
      { of: testId },
      { of: ownId },
      { of: (element) => this.colour(element), isSeen: true },
      { of: said("href", "to") },
      { of: said("value", "value") },
      { of: said("name", "named") },
      { of: (element) => `tag ${native.localName(element)}` },
    ];
  }

  private quoted(text: string): string {
    return `"${this.dom.cut(text, 40).replaceAll('"', "'")}"`;
  }

  private words(element: Element, at: number, alike: readonly Element[], name: string): string {
    const others = [alike[at - 1], alike[at + 1]].flatMap((one) => one ?? []);
    const said = this.near.around(element, name, others, this.labels) || this.near.label(element);
    return said === "" || said === name ? "" : `by ${this.quoted(said)}`;
  }

  private colour(element: Element): string {
    const painted = [element, ...[...native.children(element)].slice(0, 2)];
    for (const one of painted) {
      const style = this.dom.style(one);
      const colours = [style.backgroundColor, one instanceof SVGElement ? style.fill : ""];
      const parts = colours
        .map((colour) => /^rgb\((\d+), (\d+), (\d+)\)$/.exec(colour)?.slice(1))
        .find((found) => found);
      if (parts) return `colour #${parts.map((part) => Number(part).toString(16).padStart(2, "0")).join("")}`;
    }
    return "";
  }
}
