import type { InpageDom } from "./inpageDom.ts";
import type { InpageWords } from "./inpageWords.ts";

/** The words that stand near a thing: the label that a user takes for its own, the text around it. Runs inside the page. */
export class InpageNear {
  private readonly controls = "input,select,textarea,button,a[href],iframe,[role=button],[contenteditable]";
  private readonly fieldRoles = /^(textbox|searchbox|combobox|spinbutton|slider|listbox|switch)$/;

  constructor(
    private readonly dom: InpageDom,
    private readonly words: InpageWords,
  ) {}

  isField(element: Element, role: string): boolean {
    if (this.fieldRoles.test(role)) return true;
    return element instanceof HTMLInputElement && !/^(button|submit|reset|image)$/.test(element.type);
  }

  /** A placeholder that shows how a value is written, and not what the field is for. */
  isFormat(placeholder: string): boolean {
    return /\d|[_#]{2}|@|^[\W_]+$|\b(dd?|mm?|yy(yy)?|hh?|ss|tt|jj(jj)?|aa(aa)?)[\W_]+(dd?|mm?|yy|hh?|ss)/i.test(
      placeholder,
    );
  }

  /** The nearest words before a field, beside or above it, after it for a box to tick; empty where others have them. */
  label(element: Element): string {
    if (element.matches("[type=checkbox],[type=radio]")) {
      const after = this.beside(element, "nextSibling", 0);
      if (after) return after;
    }
    let at = element;
    for (let up = 0; up < 4; up++) {
      const said = this.beside(at, "previousSibling", up);
      if (said !== undefined) return said || this.columnHead(element);
      const parent = this.dom.parent(at);
      if (!parent || /^(body|form|main|fieldset|html|dialog|ul|ol|table)$/.test(parent.localName)) break;
      at = parent;
    }
    return this.columnHead(element);
  }

  /** Undefined where nothing stands on that side; empty where what stands there names something else. */
  private beside(element: Element, side: "previousSibling" | "nextSibling", up: number): string | undefined {
    for (let node = element[side]; node; node = node[side]) {
      const said = this.wordsOf(node);
      if (said === undefined) continue;
      const isTitle = node instanceof Element && up > 0 && /^h[12]$/.test(node.localName);
      return said.length > 80 || isTitle || !/\p{L}/u.test(said) ? "" : said;
    }
    return undefined;
  }

  private wordsOf(node: Node): string | undefined {
    if (node.nodeType === Node.TEXT_NODE) return this.dom.clean(node.nodeValue ?? "") || undefined;
    if (!(node instanceof Element) || /^(script|style|template|option)$/.test(node.localName))
      return undefined;
    if (node instanceof HTMLLabelElement && node.htmlFor !== "" && node.control) return "";
    if (!this.dom.rendered(node)) return undefined;
    if (node.matches(this.controls) || node.querySelector(this.controls)) return "";
    return this.words.read(node) || undefined;
  }

  private columnHead(element: Element): string {
    const cell = element.closest("td");
    const table = cell?.closest("table");
    const head = cell && table?.rows[0]?.cells[cell.cellIndex];
    return head && head !== cell && head.localName === "th" ? this.words.read(head) : "";
  }

  /** The words around a thing that are not its own: of the nearest element that has some and holds none of `others`. */
  around(element: Element, own: string, others: readonly Element[] = []): string {
    let at = this.dom.parent(element);
    for (let up = 0; at && up < 5; up++, at = this.dom.parent(at)) {
      const scope = at;
      if (/^(body|html)$/.test(scope.localName) || others.some((one) => scope.contains(one))) break;
      const said = this.plainWords(scope, element, own);
      if (said !== "") return said;
    }
    return "";
  }

  private plainWords(scope: Element, element: Element, own: string): string {
    const skips = (node: Node) =>
      node === element ||
      (node instanceof Element &&
        (node.matches("button,input,select,textarea,[role=button],script,style") ||
          (node.localName === "a" && this.words.read(node) === own)));
    return this.words.read(scope, false, skips);
  }

  /** The words right before a group of things that belong together, as the month before its days. */
  caption(group: Element): string {
    let at: Element | undefined = group;
    for (let up = 0; at && up < 3; up++) {
      const said = this.wordsBefore(at);
      if (said !== "") return said.length <= 60 ? said : "";
      at = this.dom.parent(at);
      if (at && /^(body|main|form|html|section|article)$/.test(at.localName)) break;
    }
    return "";
  }

  private wordsBefore(element: Element): string {
    for (let side = element.previousElementSibling; side; side = side.previousElementSibling) {
      const said = this.dom.rendered(side) ? this.plainWords(side, side, "") : "";
      if (said !== "") return said;
    }
    return "";
  }
}
