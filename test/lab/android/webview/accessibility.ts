import type { PagePart } from "../labUi.ts";

type Part = Omit<PagePart, "bounds"> & { bounds: { x: number; y: number; width: number; height: number } };
type Corner = { x: number; y: number };

declare global {
  /** The elements of the latest read, by the ids of their parts. */
  var labParts: HTMLElement[] | undefined;
}

/**
 * What Android's accessibility says about a page, in CSS pixels. It runs inside the page, and is far less than what Chromium says:
 * no lists, and no nodes without words.
 */
export function readParts(): Part[] {
  const found: Part[] = [];
  const elements: HTMLElement[] = [];
  globalThis.labParts = elements;
  const isInput = (element: Element): element is HTMLInputElement => element.localName === "input";
  const isFrame = (element: Element): element is HTMLIFrameElement => element.localName === "iframe";
  const classOf = (element: HTMLElement): string | undefined => {
    if (element.matches("input[type=checkbox]")) return "android.widget.CheckBox";
    if (element.matches("input")) return "android.widget.EditText";
    if (element.matches("select")) return "android.widget.Spinner";
    if (element.matches("button")) return "android.widget.Button";
    if (element.matches("a[href]")) return "android.view.View";
    return element.matches("h1,p,li,label") ? "android.widget.TextView" : undefined;
  };
  const add = (element: HTMLElement, className: string, corner: Corner) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const input = isInput(element) ? element : undefined;
    const isField = className.endsWith("EditText");
    elements.push(element);
    found.push({
      id: elements.length - 1,
      className,
      resourceId: element.id,
      text: input ? (isField ? input.value : "") : element.innerText,
      ...(isField && { hint: input?.placeholder || element.ariaLabel || "" }),
      bounds: { x: corner.x + x, y: corner.y + y, width, height },
      clickable: !className.endsWith("TextView"),
      isField,
      isPassword: input?.type === "password",
      isFocused: element.matches(":focus"),
      ...(input?.type === "checkbox" && { checked: input.checked }),
    });
  };
  /** Parts that belong to an element and are not its children. */
  const rootOf = (element: HTMLElement) => (isFrame(element) ? element.contentDocument : element.shadowRoot);
  const cornerOf = (element: HTMLElement, corner: Corner): Corner => {
    const { x, y } = element.getBoundingClientRect();
    return isFrame(element) ? { x: corner.x + x, y: corner.y + y } : corner;
  };
  const walk = (root: ParentNode, corner: Corner) => {
    for (const element of root.querySelectorAll<HTMLElement>("*")) {
      const className = classOf(element);
      if (className !== undefined && element.checkVisibility()) add(element, className, corner);
      const inner = rootOf(element);
      if (inner) walk(inner, cornerOf(element, corner));
    }
  };
  walk(document, { x: 0, y: 0 });
  return found;
}

/** As the action ACTION_SET_TEXT does it. It runs inside the page. */
export function setPartText({ id, text }: { id: number; text: string }): void {
  const element = globalThis.labParts?.[id];
  if (!element || !("value" in element)) return;
  element.value = text;
  element.dispatchEvent(new Event("input", { bubbles: true }));
}
