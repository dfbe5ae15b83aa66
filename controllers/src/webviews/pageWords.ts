/** What things of a page are and say: roles of `src/screens`, values, names. Runs inside the page. */
export class PageWords {
  private readonly actors =
    "a[href],button,input:not([type=hidden]),select,textarea,summary,[onclick],[role=button],[role=link],[role=checkbox]," +
    "[role=radio],[role=switch],[role=tab],[role=menuitem],[role=option],[role=combobox],[role=textbox],[role=searchbox]," +
    "[role=slider],[contenteditable=''],[contenteditable=true]";
  private readonly roles: Readonly<Record<string, string>> = {
    "[role=searchbox]": "textbox",
    "[role=grid],[role=table]": "grid",
    "[role=presentation],[role=none]": "",
    "a[href]": "link",
    "button,summary,input:is([type=button],[type=submit],[type=reset],[type=image],[type=file])": "button",
    "input[type=checkbox]": "checkbox",
    "input[type=radio]": "radio",
    "input[type=range]": "slider",
    "input,textarea,[contenteditable=''],[contenteditable=true]": "textbox",
    select: "combobox",
    "img,svg": "img",
    "ul,ol,menu": "list",
    "progress,meter": "progressbar",
  };
  private readonly own = new Set(
    "button link textbox checkbox radio switch combobox slider tab menuitem option img list progressbar".split(
      " ",
    ),
  );

  isShown(element: Element): boolean {
    if (element.matches("[aria-hidden=true],[inert],script,style,noscript,template")) return false;
    const { display } = this.styleOf(element);
    return display === "contents" || (display !== "none" && element.checkVisibility?.() !== false);
  }

  styleOf(element: Element): CSSStyleDeclaration {
    return (element.ownerDocument.defaultView ?? window).getComputedStyle(element);
  }

  rootOf(element: Element): Document | ShadowRoot {
    const root = element.getRootNode();
    return this.isShadowRoot(root) ? root : element.ownerDocument;
  }

  roleOf(element: Element): string {
    const given = element.getAttribute("role")?.trim().split(/\s+/)[0] ?? "";
    if (this.own.has(given)) return given;
    const fitting = Object.keys(this.roles).find((selector) => element.matches(selector));
    return fitting === undefined ? "" : (this.roles[fitting] ?? "");
  }

  /** Script that listens leaves no trace but the pointer cursor. */
  acts(element: Element, role: string, { cursor }: CSSStyleDeclaration): boolean {
    if (element.matches(this.actors)) return true;
    if (cursor !== "pointer" || element.matches("html,body,label") || role === "list") return false;
    const parent = element.parentElement;
    return !parent || this.styleOf(parent).cursor !== "pointer";
  }

  /** The field that it names has its words. */
  isHiddenLabel(element: Element): boolean {
    return this.isLabel(element) && element.control !== null && this.isShown(element.control);
  }

  /** `isWhole`: what is below it says and does nothing else. */
  textOf(element: Element, role: string, acts: boolean): { text: string; isWhole: boolean } {
    const value = this.valueOf(element, role);
    if (value !== undefined) return { text: this.tidy(value), isWhole: true };
    const isFlat = !element.shadowRoot && !element.querySelector(`${this.actors},iframe,slot`);
    const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    const direct = this.tidy(own.map((node) => node.nodeValue ?? "").join(" "));
    if (isFlat && "innerText" in element && (acts || (direct !== "" && this.isInline(element))))
      return { text: this.tidy(String(element.innerText)), isWhole: true };
    return { text: direct, isWhole: false };
  }

  private valueOf(element: Element, role: string): string | undefined {
    if (this.isSelect(element)) return [...element.selectedOptions].map(({ label }) => label).join(", ");
    if (/^(img|progressbar)$/.test(role)) return "";
    if (!this.isInput(element)) return this.saidValue(element, role);
    if (role === "checkbox" || role === "radio") return "";
    return element.type === "password" ? "•".repeat([...element.value].length) : element.value;
  }

  /** Of a thing that a page has made itself. */
  private saidValue(element: Element, role: string): string | undefined {
    if (role === "slider")
      return element.getAttribute("aria-valuetext") ?? element.getAttribute("aria-valuenow") ?? "";
    return role === "textbox" && "innerText" in element ? String(element.innerText) : undefined;
  }

  private isInline(element: Element): boolean {
    const inner = [...element.querySelectorAll("*")].slice(0, 50);
    return inner.every((one) => one.localName !== "img" && this.styleOf(one).display.startsWith("inline"));
  }

  nameOf(element: Element): string {
    const ids = element.getAttribute("aria-labelledby")?.split(/\s+/).slice(0, 5) ?? [];
    const labelled = ids.map((id) => element.ownerDocument.getElementById(id)?.textContent ?? "").join(" ");
    const inner = element.querySelector("img[alt],[aria-label],svg title");
    const picture = inner?.getAttribute("alt") ?? inner?.getAttribute("aria-label") ?? inner?.textContent;
    const attributes = ["aria-label", "alt", "title"].map((name) => element.getAttribute(name) ?? "");
    const isBare = element.matches(this.actors) && element.textContent?.trim() === "";
    const names = [
      labelled,
      attributes[0],
      this.labelOf(element),
      attributes[1],
      attributes[2],
      isBare ? picture : "",
    ];
    return this.tidy(names.find((name) => name?.trim()) ?? "");
  }

  private labelOf(element: Element): string {
    if (!element.matches("input,select,textarea,progress,meter")) return "";
    const labels = [...this.rootOf(element).querySelectorAll("label")]
      .filter(({ control }) => control === element)
      .slice(0, 3);
    // Without what is chosen or typed in the field that it holds.
    const nodes = labels.flatMap(({ childNodes }) =>
      [...childNodes].filter((node) => !node.contains(element)),
    );
    return nodes.map(({ textContent }) => textContent ?? "").join(" ");
  }

  /** What HTML folds, and no more: the rest is the rule for texts of `elements/text.ts`, to which a no-break space is not the same. */
  tidy(text: string): string {
    const line = text.replace(/[\t\n\f\r ]+/g, " ").trim();
    return line.slice(0, 2_000).replace(/[\uD800-\uDBFF]$/, "");
  }

  // Those of a frame are none of the classes of this window.
  private isShadowRoot(node: Node): node is ShadowRoot {
    return node.nodeType === Node.DOCUMENT_FRAGMENT_NODE && "host" in node;
  }
  private isLabel(element: Element): element is HTMLLabelElement {
    return element.localName === "label";
  }
  private isSelect(element: Element): element is HTMLSelectElement {
    return element.localName === "select";
  }

  private isInput(element: Element): element is HTMLInputElement | HTMLTextAreaElement {
    return element.matches("input,textarea");
  }
}
