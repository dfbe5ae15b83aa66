import { z } from "zod";
import type { Rect } from "../contract.ts";
import { allNodes, type UiNode, type UiTree } from "../screens/tree.ts";
import { type PageLook, type PageNode, PageReader } from "./pageReader.ts";
import { PageWords } from "./pageWords.ts";

/** More things of a page are not listed; a notice says so. */
const mostNodes = 2_000;
/** The shapes of a page and of its WebView differ by no more, since both are whole pixels. */
const shapeTolerance = 0.02;

/** The body of a script of WebDriver that looks at a page. `testId` is the attribute that names elements for tests. */
export const lookScript = (testId = "data-testid"): string =>
  // Classes travel as source text; `__name` is what esbuild wraps functions in when it keeps names.
  `const __name = (value) => value;
  const words = new (${String(PageWords)})();
  return new (${String(PageReader)})(words, ${JSON.stringify(testId)}, ${mostNodes}).read();`;

const rect = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });
const node: z.ZodType<PageNode> = z.lazy(() =>
  z.object({
    ...{
      tag: z.string(),
      role: z.string(),
      id: z.string(),
      name: z.string(),
      text: z.string(),
      hint: z.string(),
    },
    ...{ rect, states: z.array(z.string()), children: z.array(node) },
  }),
);
/** What {@link lookScript} gives: from a page, so it is checked. */
export const pageLook: z.ZodType<PageLook> = z.object({
  ...{
    title: z.string(),
    isVisible: z.boolean(),
    width: z.number().positive(),
    height: z.number().positive(),
  },
  ...{
    wholeHeight: z.number(),
    scrolls: z.boolean(),
    isCut: z.boolean(),
    foreign: z.int(),
    nodes: z.array(node),
  },
});

/** The outermost WebViews of a screen, as accessibility knows them. */
export function webViewsOf(tree: UiTree): UiNode[] {
  return allNodes(tree).filter((one) => isWebView(one) && !hasWebViewAbove(one));
}

const isWebView = ({ role }: UiNode) => role === "document";

function hasWebViewAbove({ parent }: UiNode): boolean {
  for (let one = parent; one; one = one.parent) if (isWebView(one)) return true;
  return false;
}

/** Whether a snapshot is of the page of this WebView: what it shows, or would without a keyboard, has the same shape. */
export function fits({ width, height, wholeHeight }: PageLook, { bounds }: UiNode): boolean {
  const wanted = bounds.height / Math.max(bounds.width, 1);
  return [height, wholeHeight].some((one) => Math.abs(one / width / wanted - 1) <= shapeTolerance);
}

/** Puts what a page has in the place of the WebView's nodes, and says what is missing. */
export function showPage(webView: UiNode, look: PageLook): string[] {
  const scale = webView.bounds.width / look.width;
  webView.scrollable = look.scrolls;
  webView.description ||= look.title;
  webView.children = look.nodes.map((one) => toNode(one, webView, { scale, corner: webView.bounds }));
  return [
    ...(look.isCut ? [`the page in the WebView has more than its first ${mostNodes} elements`] : []),
    ...(look.foreign > 0
      ? [`frames of other origins in the page cannot be read: ${look.foreign}; capture_screenshot shows them`]
      : []),
  ];
}

/** Of what a page says, only these are taken. */
const flags = [
  ...(["checkable", "checked", "clickable", "disabled", "focusable", "focused"] as const),
  ...(["password", "scrollable", "selected"] as const),
] as const satisfies readonly (keyof UiNode)[];

type Scale = { scale: number; corner: Rect };

function toNode(page: PageNode, parent: UiNode, by: Scale): UiNode {
  const { x, y, width, height } = page.rect;
  const { scale, corner } = by;
  // What is chosen in a list that has a name is a text of its own.
  const isNamedList = page.role === "combobox" && page.name !== "";
  const chosen: PageNode = { ...page, role: "text", name: "", id: "", states: [], children: [] };
  const made: UiNode = {
    className: page.tag,
    role: page.role,
    ...(parent.packageName !== undefined && { packageName: parent.packageName }),
    ...{ id: page.id, text: isNamedList ? "" : page.text, description: page.name, hint: page.hint },
    bounds: {
      ...{ x: Math.round(corner.x + x * scale), y: Math.round(corner.y + y * scale) },
      ...{ width: Math.round(width * scale), height: Math.round(height * scale) },
    },
    ...Object.fromEntries(flags.map((flag) => [flag, page.states.includes(flag)])),
    ...{ parent, children: [] },
  };
  made.children = (isNamedList ? [chosen] : page.children).map((child) => toNode(child, made, by));
  return made;
}
