import type { InpageDom } from "./inpageDom.ts";
import type { InpageNear } from "./inpageNear.ts";
import type { SeenElement } from "./inpageRecords.ts";

type Sign = (element: Element, at: number, alike: readonly Element[]) => string;

/** What tells elements of one role and one name from each other. Runs inside the page. */
export class InpageApart {
  /** Words are looked for among so many alike; more than these have only a number. */
  private readonly mostWords = 300;

  constructor(
    private readonly dom: InpageDom,
    private readonly near: InpageNear,
  ) {}

  /** Gives each element to press that shares role and name with others a sign of its own. */
  mark(
    seen: readonly SeenElement[],
    elementOf: (seen: SeenElement) => Element | undefined,
    testIdAttribute: string,
  ): void {
    for (const group of this.twins(seen)) {
      const elements = group.flatMap((one) => elementOf(one) ?? []);
      const signs = this.signs(elements, group[0]?.name ?? "", testIdAttribute);
      for (const [at, one] of group.entries()) one.apart = signs[at] ?? "";
    }
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

  /** One sign for each of several elements of one name: the first kind of sign that no other has. */
  private signs(alike: readonly Element[], name: string, testIdAttribute: string): string[] {
    const signs = alike.map(() => "");
    const kinds = alike.length > this.mostWords ? [] : this.kinds(name, testIdAttribute);
    for (const kind of kinds) {
      if (!signs.includes("")) break;
      const said = alike.map((element, at) => (signs[at] === "" ? kind(element, at, alike) : ""));
      for (const [at, one] of said.entries()) if (this.isAlone(one, said)) signs[at] = one;
    }
    return signs.map((sign, at) => sign || `${at + 1} of ${alike.length}`);
  }

  private isAlone(sign: string, all: readonly string[]): boolean {
    return sign !== "" && all.indexOf(sign) === all.lastIndexOf(sign);
  }

  private kinds(name: string, testIdAttribute: string): Sign[] {
    const said =
      (attribute: string, label: string): Sign =>
      (element) => {
        const value = this.dom.clean(element.getAttribute(attribute) ?? "");
        return value === "" || value === name ? "" : `${label} ${this.quoted(value)}`;
      };
    return [
      (element, at, alike) => this.words(element, at, alike, name),
      said("title", "title"),
      (element) => {
        const id = element.getAttribute(testIdAttribute);
        return id ? `testid ${this.dom.cut(id, 40)}` : "";
      },
      ({ id }) => (id !== "" && !/\d{3,}|[:«»]/.test(id) ? `#${this.dom.cut(id, 40)}` : ""),
      (element) => this.colour(element),
      said("href", "to"),
      said("value", "value"),
      said("name", "named"),
      ({ localName }) => `tag ${localName}`,
    ];
  }

  private quoted(text: string): string {
    return `"${this.dom.cut(text, 40).replaceAll('"', "'")}"`;
  }

  private words(element: Element, at: number, alike: readonly Element[], name: string): string {
    const others = [alike[at - 1], alike[at + 1]].flatMap((one) => one ?? []);
    const said = this.near.around(element, name, others) || this.near.label(element);
    return said === "" || said === name ? "" : `by ${this.quoted(said)}`;
  }

  private colour(element: Element): string {
    const painted = [element, ...[...element.children].slice(0, 2)];
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
