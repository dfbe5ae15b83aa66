/** Distinguishes elements that share role and name. */

import type { SeenElement } from "../answers.ts";
import * as near from "../names/near.ts";
import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import * as refs from "./refs.ts";

type Sign = (element: Element, at: number, alike: readonly Element[]) => string;

/** `isSeen`: a user sees it, so it also helps if several elements have it. */
type Kind = { of: Sign; isSeen?: boolean };

/** Of more elements of one name, each gets only a number. */
const mostWords = 300;

/** `labels`: the names of all twins, which do not describe the elements next to them. */
type Twins = { name: string; testIdAttribute: string; labels: ReadonlySet<string> };

/** Gives each widget that shares role and name with others a sign that distinguishes it. */
export function mark(seen: readonly SeenElement[], testIdAttribute: string): void {
  const groups = twins(seen);
  const labels = new Set(groups.flatMap(([one]) => one?.name ?? []));
  for (const group of groups) {
    const elements = group.flatMap((one) => refs.element(one.ref) ?? []);
    const signs = signsOf(elements, { name: group[0]?.name ?? "", testIdAttribute, labels });
    for (const [at, one] of group.entries()) one.apart = signs[at] ?? "";
  }
}

function twins(seen: readonly SeenElement[]): SeenElement[][] {
  const groups = new Map<string, SeenElement[]>();
  for (const one of seen.filter(({ interactive }) => interactive)) {
    const key = `${one.role} ${one.name}`;
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

/** A sign for each of several elements of one name: the first kind of sign that is unique, else one that few share. */
export function signsOf(alike: readonly Element[], twins: Twins): string[] {
  const signs = alike.map(() => "");
  const shared = alike.map(() => "");
  const kinds = alike.length > mostWords ? [] : kindsOf(twins);
  for (const { of, isSeen } of kinds) {
    if (!signs.includes("")) break;
    const said = alike.map((element, at) => of(element, at, alike));
    fill(signs, (at) => (isAlone(said[at] ?? "", said) ? said[at] : ""));
    if (isSeen && new Set(said).size > 1) fill(shared, (at) => counted(at, said));
  }
  return signs.map((sign, at) => sign || shared[at] || `${at + 1} of ${alike.length}`);
}

function fill(signs: string[], signAt: (at: number) => string | undefined): void {
  for (const at of signs.keys()) signs[at] ||= signAt(at) ?? "";
}

function counted(at: number, all: readonly string[]): string {
  const sign = all[at] ?? "";
  const place = all.slice(0, at + 1).filter((one) => one === sign).length;
  return sign === "" ? "" : `${sign} ${place} of ${all.filter((one) => one === sign).length}`;
}

function isAlone(sign: string, all: readonly string[]): boolean {
  return sign !== "" && all.indexOf(sign) === all.lastIndexOf(sign);
}

function kindsOf({ name, testIdAttribute, labels }: Twins): Kind[] {
  const said =
    (attribute: string, label: string): Sign =>
    (element) => {
      const value = dom.clean(native.getAttribute(element, attribute) ?? "");
      return value === "" || value === name ? "" : `${label} ${quoted(value)}`;
    };
  const testId: Sign = (element) => {
    const id = native.getAttribute(element, testIdAttribute);
    return id ? `testid ${dom.cut(id, 40)}` : "";
  };
  const ownId: Sign = (element) => {
    const id = native.id(element);
    return id !== "" && !/\d{3,}|[:«»]/.test(id) ? `#${dom.cut(id, 40)}` : "";
  };
  return [
    {
      of: (element, at, alike) => words(element, [alike[at - 1], alike[at + 1]], name, labels),
      isSeen: true,
    },
    { of: said("title", "title") },
    { of: testId },
    { of: ownId },
    { of: (element) => colour(element), isSeen: true },
    { of: said("href", "to") },
    { of: said("value", "value") },
    { of: said("name", "named") },
    { of: (element) => `tag ${native.localName(element)}` },
  ];
}

function quoted(text: string): string {
  return `"${dom.cut(text, 40).replaceAll('"', "'")}"`;
}

function words(
  element: Element,
  neighbours: readonly (Element | undefined)[],
  name: string,
  labels: ReadonlySet<string>,
): string {
  const others = neighbours.flatMap((one) => one ?? []);
  const said = near.around(element, name, others, labels) || near.label(element);
  return said === "" || said === name ? "" : `by ${quoted(said)}`;
}

function colour(element: Element): string {
  const painted = [element, ...[...native.children(element)].slice(0, 2)];
  for (const one of painted) {
    const style = dom.style(one);
    const colours = [style.backgroundColor, one instanceof SVGElement ? style.fill : ""];
    const parts = colours
      .map((colour) => /^rgb\((\d+), (\d+), (\d+)\)$/.exec(colour)?.slice(1))
      .find((found) => found);
    if (parts) return `colour #${parts.map((part) => Number(part).toString(16).padStart(2, "0")).join("")}`;
  }
  return "";
}
