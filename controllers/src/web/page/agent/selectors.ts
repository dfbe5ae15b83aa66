import type { Candidate, Ranking } from "../../../elements/ranking.ts";
import type { InpageClicks } from "./names/clicks.ts";
import type { InpageNames } from "./names/names.ts";
import type { InpageQuery, PageQuery } from "./query.ts";
import type { InpageDom } from "./tree/dom.ts";
import { native } from "./tree/native.ts";

/** Ways to find an element again, ranked, each counted in this frame. Runs inside the page. */
export class InpageSelectors {
  private counts = new Map<string, number>();
  private byRoleAndName: Map<string, number> | undefined;

  constructor(
    private readonly dom: InpageDom,
    private readonly names: InpageNames,
    private readonly clicks: InpageClicks,
    private readonly query: InpageQuery,
    private readonly ranking: Ranking,
  ) {}

  /** Candidates for each element, best first; `testIdAttribute` as the user interface sets it. */
  rank(elements: readonly (Element | undefined)[], testIdAttribute: string): Candidate[][] {
    this.counts.clear();
    this.byRoleAndName = undefined;
    return elements.map((element) => (element ? this.candidates(element, testIdAttribute) : []));
  }

  private candidates(element: Element, testIdAttribute: string): Candidate[] {
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
      const score = this.ranking.score({ kind, value, count }, isGuessed);
      found.push({ kind, value, count, score, ...(role ? { role } : {}) });
    };
    const testId = native.getAttribute(element, testIdAttribute);
    add("testid", testId, () =>
      this.countCss(`[${CSS.escape(testIdAttribute)}="${CSS.escape(testId ?? "")}"]`),
    );
    const role = this.clicks.role(element);
    const { name, derived } = this.names.name(element, role);
    if (role) add("role", name, () => this.countRole(role, name), { role, isGuessed: derived });
    const tied = this.names.label(element);
    const label = tied || this.names.guessedLabel(element, role);
    add("label", label, () => this.countQuery({ kind: "label", text: { match: "cased", text: label } }), {
      isGuessed: !tied,
    });
    const placeholder = native.getAttribute(element, "placeholder");
    add("placeholder", placeholder, () => this.countCss(`[placeholder="${CSS.escape(placeholder ?? "")}"]`));
    add("id", native.id(element), () => this.countCss(`[id="${CSS.escape(native.id(element))}"]`));
    const text = native.matches(element, "input,select,textarea") ? "" : this.names.text(element);
    if (text.length <= 80)
      add("text", text, () => this.countQuery({ kind: "text", text: { match: "cased", text } }));
    const css = this.cssPath(element, testIdAttribute);
    add("css", css.join(" "), () => this.countPath(css));
    const xpath = this.xpath(element);
    add("xpath", xpath, () => this.countXpath(xpath));
    return found.sort((a, b) => Number(a.count > 1) - Number(b.count > 1) || b.score - a.score);
  }

  private remember(key: string, count: () => number): number {
    let known = this.counts.get(key);
    if (known === undefined) {
      known = count();
      this.counts.set(key, known);
    }
    return known;
  }

  private countCss(css: string): number {
    return this.remember(`css ${css}`, () => this.dom.select(css).length);
  }

  private countQuery(query: PageQuery): number {
    return this.remember(JSON.stringify(query), () => this.query.find(query).length);
  }

  /** One pass over the page serves every role and name that is asked for; visible ones count where there are any. */
  private countRole(role: string, name: string): number {
    this.byRoleAndName ??= this.roleIndex();
    const key = (seen: string) => `${seen} ${role} ${name}`;
    return this.byRoleAndName.get(key("seen")) ?? this.byRoleAndName.get(key("unseen")) ?? 0;
  }

  private roleIndex(): Map<string, number> {
    const index = new Map<string, number>();
    for (const element of this.dom.everything()) {
      const role = this.clicks.role(element);
      if (role === "" || this.clicks.standIn(element) !== element) continue;
      const seen = this.dom.rendered(element) && this.dom.hasArea(element) ? "seen" : "unseen";
      const key = `${seen} ${role} ${this.query.nameOf(element, role)}`;
      index.set(key, (index.get(key) ?? 0) + 1);
    }
    return index;
  }

  /** A short path from the nearest ancestor with a stable id or test id; one part for each shadow root passed. */
  private cssPath(element: Element, testIdAttribute: string): string[] {
    const parts: string[] = [];
    let part = "";
    let at: Element | undefined = element;
    for (let depth = 0; at && depth < 60; depth++) {
      const anchor = this.anchor(at, testIdAttribute);
      part = (anchor ?? this.step(at)) + part;
      if (anchor && this.countPath([part, ...parts]) === 1) return [part, ...parts];
      const parent: Element | null = native.parentElement(at);
      if (parent === native.body(document)) return [part, ...parts];
      if (parent) part = ` > ${part}`;
      else {
        parts.unshift(part);
        part = "";
      }
      at = parent ?? this.dom.parent(at);
    }
    return parts;
  }

  /** Playwright's CSS passes shadow roots at a blank; here each part is looked for in the roots of the part before. */
  private countPath(parts: readonly string[]): number {
    return this.remember(`path ${parts.join(" >> ")}`, () => {
      let found = this.dom.select(parts[0] ?? "*");
      for (const part of parts.slice(1)) {
        found = found.flatMap((host) => {
          const shadow = native.shadowRoot(host);
          return shadow ? [...native.querySelectorAll(shadow, part)] : [];
        });
      }
      return found.length;
    });
  }

  private anchor(element: Element, testIdAttribute: string): string | undefined {
    const testId = native.getAttribute(element, testIdAttribute);
    if (testId && !this.ranking.isGenerated(testId)) return `[${testIdAttribute}="${CSS.escape(testId)}"]`;
    const id = native.id(element);
    return id && !this.ranking.isGenerated(id) ? `#${CSS.escape(id)}` : undefined;
  }

  private step(element: Element): string {
    const tag = CSS.escape(native.localName(element));
    const parent = native.parentElement(element);
    const siblings = parent ? [...native.children(parent)] : [element];
    const alike = siblings.filter((one) => native.localName(one) === native.localName(element));
    if (alike.length === 1) return tag;
    const own = [...native.classList(element)].find(
      (name) =>
        !this.ranking.isGenerated(name) &&
        !/\d|^(active|selected|hover|focus)/.test(name) &&
        alike.filter((one) => native.classList(one).contains(name)).length === 1,
    );
    return own ? `${tag}.${CSS.escape(own)}` : `${tag}:nth-of-type(${alike.indexOf(element) + 1})`;
  }

  countXpath(xpath: string): number {
    return native.evaluate(xpath, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE).snapshotLength;
  }

  /** Empty inside a shadow root, where XPath does not reach. */
  private xpath(element: Element): string {
    if (!(native.getRootNode(element) instanceof Document)) return "";
    const steps: string[] = [];
    for (let at: Element | null = element; at; at = native.parentElement(at)) {
      const parent = native.parentElement(at);
      const name = this.xpathName(at);
      const alike = [...(parent ? native.children(parent) : [])].filter(
        (one) => this.xpathName(one) === name,
      );
      steps.unshift(alike.length > 1 ? `${name}[${alike.indexOf(at) + 1}]` : name);
    }
    return `/${steps.join("/")}`;
  }

  /** A bare name means elements of HTML only, and cannot hold every sign that a tag can. */
  private xpathName(element: Element): string {
    const localName = native.localName(element);
    const isHtml =
      native.namespaceURI(element) === "http://www.w3.org/1999/xhtml" && /^[\w-]+$/.test(localName);
    return isHtml ? localName : `*[local-name()="${localName}"]`;
  }
}
