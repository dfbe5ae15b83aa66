import type { TextMatch, TextMatcher } from "../../../elements/text.ts";
import type { InpageRefs } from "./look/refs.ts";
import type { InpageClicks } from "./names/clicks.ts";
import type { InpageNames } from "./names/names.ts";
import type { InpageRoles } from "./names/roles.ts";
import type { InpageDom } from "./tree/dom.ts";
import { native } from "./tree/native.ts";

/** What to look for in one frame. `css` and `xpath` are Playwright's own and never come here but to be counted. */
export type PageQuery =
  | { kind: "ref"; ref: string }
  | { kind: "role"; role: string; name?: TextMatch }
  | { kind: "label" | "placeholder" | "text" | "any"; text: TextMatch }
  | { kind: "css"; css: string };

type Writer = ReturnType<InpageDom["writer"]>;
type Left = { characters: number; readonly boxes: "glued" | "apart" };

/** Finds elements by what a user calls them. Runs inside the page; also the engine behind `labwright=` in Playwright. */
export class InpageQuery {
  private look = -1;
  private readonly nameCache = new Map<Element, string>();
  private readonly wordCache = new Map<Element, string>();

  constructor(
    private readonly dom: InpageDom,
    private readonly roles: InpageRoles,
    private readonly names: InpageNames,
    private readonly clicks: InpageClicks,
    private readonly refs: InpageRefs,
    private readonly texts: TextMatcher,
  ) {}

  /** All matches in document order; only the visible ones where there are any. */
  find(query: PageQuery, root: Document | Element | ShadowRoot = document): Element[] {
    this.freshen();
    return this.preferVisible(this.match(query, root));
  }

  /**
   * What a query means: all matches, or those in exactly its case where several have the name. `isCased` says that all of
   * them are in that case; for a single match only where `isAlone` is not set, since finding out costs as much as finding.
   */
  meant(query: PageQuery, isAlone = true): { elements: Element[]; isCased: boolean } {
    const elements = this.find(query);
    const strict = elements.length > (isAlone ? 1 : 0) ? this.cased(query) : undefined;
    if (strict === undefined) return { elements, isCased: false };
    const shown = new Set(elements);
    const same = this.find(strict).filter((element) => shown.has(element));
    return same.length > 0 ? { elements: same, isCased: true } : { elements, isCased: false };
  }

  /** The same query, in its own case only; undefined where case counts already or never. */
  cased(query: PageQuery): PageQuery | undefined {
    if (query.kind === "ref" || query.kind === "css") return undefined;
    if (query.kind !== "role")
      return query.text.match === "same" ? { ...query, text: { ...query.text, match: "cased" } } : undefined;
    return query.name?.match === "same" ? { ...query, name: { ...query.name, match: "cased" } } : undefined;
  }

  private freshen(): void {
    if (this.look === this.dom.looks) return;
    this.look = this.dom.looks;
    this.nameCache.clear();
    this.wordCache.clear();
  }

  preferVisible(found: readonly Element[]): Element[] {
    if (found.length < 2) return [...found];
    const visible = found.filter((element) => this.isVisible(element));
    return visible.length > 0 ? visible : [...found];
  }

  /** What a query means in the document, or all that it finds below an element. */
  findBelow(query: PageQuery, root: Document | Element | ShadowRoot): readonly Element[] {
    return root === document ? this.meant(query).elements : this.find(query, root);
  }

  private isVisible(element: Element): boolean {
    return this.dom.rendered(element) && this.dom.hasArea(element);
  }

  private match(query: PageQuery, root: Document | Element | ShadowRoot): Element[] {
    if (query.kind === "ref") {
      const element = this.refs.element(query.ref);
      return element ? [element] : [];
    }
    if (query.kind === "css") return this.dom.select(query.css);
    const all = root === document ? this.dom.everything() : this.dom.all(root);
    if (query.kind === "text") return this.byText(all, query.text);
    const found = this.matchWidgets(query, all).map((element) => this.clicks.standIn(element));
    return [...new Set(found)];
  }

  private matchWidgets(
    query: Exclude<PageQuery, { kind: "ref" | "css" }>,
    all: readonly Element[],
  ): Element[] {
    if (query.kind === "role") return this.byRole(all, query.role, query.name);
    if (query.kind === "label") return this.byLabel(all, query.text);
    if (query.kind === "placeholder") {
      return all.filter((one) =>
        this.texts.holds(query.text, native.getAttribute(one, "placeholder") ?? undefined),
      );
    }
    return query.kind === "text" ? this.byText(all, query.text) : this.byAnything(all, query.text);
  }

  nameOf(element: Element, role: string): string {
    let name = this.nameCache.get(element);
    if (name === undefined) {
      name = this.names.name(element, role).name;
      this.nameCache.set(element, name);
    }
    return name;
  }

  private byRole(all: readonly Element[], role: string, name: TextMatch | undefined): Element[] {
    return all.filter((element) => {
      if (this.clicks.role(element) !== role) return false;
      return !name || this.texts.holds(name, this.nameOf(element, role));
    });
  }

  /** A label that only stands beside its field counts where no label is tied to one. */
  private byLabel(all: readonly Element[], wanted: TextMatch): Element[] {
    const tied = all.filter((one) => this.labels(one).some((text) => this.texts.holds(wanted, text)));
    if (tied.length > 0) return tied;
    return all.filter((one) => {
      const guess = this.names.guessedLabel(one, this.roles.role(one));
      return guess !== "" && this.texts.holds(wanted, guess);
    });
  }

  private labels(element: Element): string[] {
    if (
      !native.matches(
        element,
        "input,select,textarea,button,[role],[contenteditable],[aria-label],[aria-labelledby]",
      )
    )
      return [];
    const spoken =
      native.hasAttribute(element, "aria-label") || native.hasAttribute(element, "aria-labelledby");
    const texts = [this.names.label(element)];
    if (spoken) texts.push(this.names.accessible(element, this.roles.role(element)));
    return texts.filter((text) => text !== "");
  }

  /** The smallest elements whose whole visible text matches. */
  private byText(all: readonly Element[], wanted: TextMatch): Element[] {
    const hits = this.textHolders(all, wanted).filter((element) => {
      const own = element instanceof HTMLInputElement ? element.value : this.names.text(element);
      if (own === "" || wanted.match !== "exact") return own !== "" && this.texts.holds(wanted, own);
      return this.texts.holds(wanted, element instanceof HTMLInputElement ? own : this.names.shown(element));
    });
    const set = new Set(hits);
    const outer = new Set<Element>();
    for (const hit of hits) {
      for (let up = this.dom.parent(hit); up; up = this.dom.parent(up)) if (set.has(up)) outer.add(up);
    }
    return hits.filter((hit) => !outer.has(hit));
  }

  /** Elements that have words of their own which may start the match, and a few of the elements around them. */
  private textHolders(all: readonly Element[], wanted: TextMatch): Element[] {
    const words =
      wanted.match === "pattern"
        ? []
        : this.dom
            .clean(wanted.text)
            .toLowerCase()
            .split(/[ \u00A0]/);
    const first = words[0] ?? "";
    const holders = new Set<Element>();
    for (const element of all) {
      if (/^(script|style|template|noscript|title)$/.test(native.localName(element))) continue;
      if (this.isInputButton(element)) holders.add(element);
      else if (this.speaks(element, first)) this.addWithParents(element, holders);
    }
    return all.filter((element) => holders.has(element));
  }

  private speaks(element: Element, word: string): boolean {
    let words = this.wordCache.get(element);
    if (words === undefined) {
      const own = [...native.childNodes(element)].filter((node) => native.nodeType(node) === Node.TEXT_NODE);
      words = this.dom.clean(own.map((node) => native.nodeValue(node) ?? "").join(" ")).toLowerCase();
      this.wordCache.set(element, words);
    }
    return words !== "" && words.includes(word);
  }

  private addWithParents(element: Element, holders: Set<Element>): void {
    let at: Element | undefined = element;
    for (let up = 0; at && up < 5; up++, at = this.dom.parent(at)) holders.add(at);
  }

  /** A bare string: what a user can press by its name, then a field by its label or placeholder, then any text. */
  private byAnything(all: readonly Element[], wanted: TextMatch): Element[] {
    const tiers = [
      () =>
        all.filter((element) => {
          const role = this.clicks.role(element);
          return this.roles.isWidget(role) && this.texts.holds(wanted, this.nameOf(element, role));
        }),
      () =>
        all.filter(
          (element) =>
            this.labels(element).some((text) => this.texts.holds(wanted, text)) ||
            this.texts.holds(wanted, native.getAttribute(element, "placeholder") ?? undefined),
        ),
      () => this.byText(all, wanted),
    ];
    for (const tier of tiers) {
      const found = tier();
      const visible = found.filter((element) => this.isVisible(element));
      if (visible.length > 0) return visible;
      if (found.length > 0) return found;
    }
    return [];
  }

  /** Names of what is on the screen, for "did you mean": at most `limit`, widgets first. */
  namesOnScreen(limit: number): { role: string; name: string; element: Element }[] {
    this.freshen();
    const found: { role: string; name: string; element: Element }[] = [];
    for (const element of this.dom.everything()) {
      if (found.length >= limit) break;
      const role = this.clicks.role(element);
      if (!this.roles.isWidget(role) && role !== "heading") continue;
      if (!this.isVisible(element)) continue;
      const name = this.nameOf(element, role);
      if (name !== "") found.push({ role, name, element });
    }
    return found;
  }

  /**
   * What can be read on this page as it stands, in lines of one block each; stops after `limit` characters. A box in a line,
   * such as a button or a badge, is drawn apart from the words beside it, though nothing may stand between them: `boxes` says
   * whether it is read so.
   */
  pageText(limit: number, boxes: "glued" | "apart"): string[] {
    const writer = this.dom.writer();
    const left = { characters: limit, boxes };
    if (native.body(document)) this.readBelow(native.body(document), writer, left);
    return writer
      .read()
      .split("\n")
      .filter((line) => this.dom.clean(line) !== "");
  }

  private readBelow(element: Element, writer: Writer, left: Left): void {
    if (left.characters <= 0 || this.dom.style(element).display === "none") return;
    if (/^(script|style|template|noscript|head|option)$/.test(native.localName(element))) return;
    if (native.localName(element) === "br") {
      writer.line();
      return;
    }
    const bound = this.boundOf(element, writer, left);
    bound();
    for (const child of this.dom.children(element)) {
      if (child instanceof Element) this.readBelow(child, writer, left);
      else this.readText(child, element, writer, left);
    }
    if (this.isInputButton(element))
      writer.write(` ${native.getAttribute(element, "value") ?? ""} `, element);
    bound();
  }

  /** What stands before and behind the words of an element. */
  private boundOf(element: Element, writer: Writer, { boxes }: Left): () => void {
    if (!this.dom.isInline(element)) return () => writer.edge();
    const isBox = boxes === "apart" && this.dom.style(element).display.startsWith("inline-");
    return () => isBox && writer.write(" ", element);
  }

  private isInputButton(element: Element): boolean {
    return native.matches(element, "input[type=submit],input[type=button],input[type=reset]");
  }

  private readText(node: Node, parent: Element, writer: Writer, left: Left): void {
    if (native.nodeType(node) !== Node.TEXT_NODE) return;
    const text = native.nodeValue(node) ?? "";
    if (text.trim() !== "" && !(this.dom.rendered(parent) && this.dom.legible(parent, [node]))) return;
    left.characters -= text.length;
    writer.write(text, parent);
  }
}
