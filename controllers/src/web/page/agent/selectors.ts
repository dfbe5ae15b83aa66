/** Ranks selectors that find an element again, and counts their matches in this frame. */

import { type Candidate, pageWeights, Ranking } from "../../../elements/ranking.ts";
import * as clicks from "./names/clicks.ts";
import * as names from "./names/names.ts";
import * as words from "./names/words.ts";
import { find, nameOf, type PageQuery } from "./query.ts";
import * as dom from "./tree/dom.ts";
import { native } from "./tree/native.ts";
import * as sight from "./tree/sight.ts";

const ranking = new Ranking(pageWeights);
const counts = new Map<string, number>();
let byRoleAndName: Map<string, number> | undefined;

/** Candidates for each element, best first. */
export function rank(elements: readonly (Element | undefined)[], testIdAttribute: string): Candidate[][] {
  counts.clear();
  byRoleAndName = undefined;
  return elements.map((element) => (element ? candidates(element, testIdAttribute) : []));
}

function candidates(element: Element, testIdAttribute: string): Candidate[] {
  const found: Candidate[] = [];
  const add = (
    kind: Candidate["kind"],
    value: string | null,
    matches: () => number,
    { role, isGuessed }: { role?: string; isGuessed?: boolean } = {},
  ) => {
    if (!value || value.length > 300) return;
    const count = matches();
    if (count === 0) return;
    const score = ranking.score({ kind, value, count }, isGuessed);
    found.push({ kind, value, count, score, ...(role ? { role } : {}) });
  };
  const testId = native.getAttribute(element, testIdAttribute);
  add("testid", testId, () => countCss(`[${CSS.escape(testIdAttribute)}="${CSS.escape(testId ?? "")}"]`));
  const role = clicks.role(element);
  const { name, derived } = names.nameOf(element, role);
  if (role) add("role", name, () => countRole(role, name), { role, isGuessed: derived });
  const tied = names.label(element);
  const label = tied || names.guessedLabel(element, role);
  add("label", label, () => countQuery({ kind: "label", text: { match: "cased", text: label } }), {
    isGuessed: !tied,
  });
  const placeholder = native.getAttribute(element, "placeholder");
  add("placeholder", placeholder, () => countCss(`[placeholder="${CSS.escape(placeholder ?? "")}"]`));
  add("id", native.id(element), () => countCss(`[id="${CSS.escape(native.id(element))}"]`));
  const text = native.matches(element, "input,select,textarea") ? "" : words.read(element);
  if (text.length <= 80)
    add("text", text, () => countQuery({ kind: "text", text: { match: "cased", text } }));
  const css = cssPath(element, testIdAttribute);
  add("css", css.join(" "), () => countPath(css));
  const xpath = xpathOf(element);
  add("xpath", xpath, () => countXpath(xpath));
  return found.sort((a, b) => Number(a.count > 1) - Number(b.count > 1) || b.score - a.score);
}

function remember(key: string, count: () => number): number {
  let known = counts.get(key);
  if (known === undefined) {
    known = count();
    counts.set(key, known);
  }
  return known;
}

function countCss(css: string): number {
  return remember(`css ${css}`, () => dom.select(css).length);
}

function countQuery(query: PageQuery): number {
  return remember(JSON.stringify(query), () => find(query).length);
}

/** Visible elements, if there are any; one pass over the page serves all roles and names. */
function countRole(role: string, name: string): number {
  byRoleAndName ??= roleIndex();
  const key = (seen: string) => `${seen} ${role} ${name}`;
  return byRoleAndName.get(key("seen")) ?? byRoleAndName.get(key("unseen")) ?? 0;
}

function roleIndex(): Map<string, number> {
  const index = new Map<string, number>();
  for (const element of dom.everything()) {
    const role = clicks.role(element);
    if (role === "" || clicks.standIn(element) !== element) continue;
    const seen = sight.rendered(element) && sight.hasArea(element) ? "seen" : "unseen";
    const key = `${seen} ${role} ${nameOf(element, role)}`;
    index.set(key, (index.get(key) ?? 0) + 1);
  }
  return index;
}

/** A short path from the nearest ancestor with a stable id or test id, one part for each shadow root. */
function cssPath(element: Element, testIdAttribute: string): string[] {
  const parts: string[] = [];
  let part = "";
  let at: Element | undefined = element;
  for (let depth = 0; at && depth < 60; depth++) {
    const anchor = anchorOf(at, testIdAttribute);
    part = (anchor ?? step(at)) + part;
    if (anchor && countPath([part, ...parts]) === 1) return [part, ...parts];
    const parent: Element | null = native.parentElement(at);
    if (parent === native.body(document)) return [part, ...parts];
    if (parent) part = ` > ${part}`;
    else {
      parts.unshift(part);
      part = "";
    }
    at = parent ?? dom.parent(at);
  }
  return parts;
}

/** Playwright's CSS enters shadow roots at a blank; here each part is searched for in the shadow roots of the previous one. */
function countPath(parts: readonly string[]): number {
  return remember(`path ${parts.join(" >> ")}`, () => {
    let found = dom.select(parts[0] ?? "*");
    for (const part of parts.slice(1)) {
      found = found.flatMap((host) => {
        const shadow = native.shadowRoot(host);
        return shadow ? [...native.querySelectorAll(shadow, part)] : [];
      });
    }
    return found.length;
  });
}

function anchorOf(element: Element, testIdAttribute: string): string | undefined {
  const testId = native.getAttribute(element, testIdAttribute);
  if (testId && !ranking.isGenerated(testId)) return `[${testIdAttribute}="${CSS.escape(testId)}"]`;
  const id = native.id(element);
  return id && !ranking.isGenerated(id) ? `#${CSS.escape(id)}` : undefined;
}

function step(element: Element): string {
  const tag = CSS.escape(native.localName(element));
  const parent = native.parentElement(element);
  const siblings = parent ? [...native.children(parent)] : [element];
  const alike = siblings.filter((one) => native.localName(one) === native.localName(element));
  if (alike.length === 1) return tag;
  const own = [...native.classList(element)].find(
    (name) =>
      !ranking.isGenerated(name) &&
      !/\d|^(active|selected|hover|focus)/.test(name) &&
      alike.filter((one) => native.classList(one).contains(name)).length === 1,
  );
  return own ? `${tag}.${CSS.escape(own)}` : `${tag}:nth-of-type(${alike.indexOf(element) + 1})`;
}

export function countXpath(xpath: string): number {
  return native.evaluate(xpath, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE).snapshotLength;
}

/** Empty inside a shadow root, where XPath does not reach. */
function xpathOf(element: Element): string {
  if (!(native.getRootNode(element) instanceof Document)) return "";
  const steps: string[] = [];
  for (let at: Element | null = element; at; at = native.parentElement(at)) {
    const parent = native.parentElement(at);
    const name = xpathName(at);
    const alike = [...(parent ? native.children(parent) : [])].filter((one) => xpathName(one) === name);
    steps.unshift(alike.length > 1 ? `${name}[${alike.indexOf(at) + 1}]` : name);
  }
  return `/${steps.join("/")}`;
}

/** In XPath a bare name finds only HTML elements, and cannot have every character that a tag can. */
function xpathName(element: Element): string {
  const localName = native.localName(element);
  const isHtml =
    native.namespaceURI(element) === "http://www.w3.org/1999/xhtml" && /^[\w-]+$/.test(localName);
  return isHtml ? localName : `*[local-name()="${localName}"]`;
}
