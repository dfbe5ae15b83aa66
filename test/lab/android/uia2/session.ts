import { randomUUID } from "node:crypto";
import type { Clock, LabUi, UiNode } from "../labUi.ts";
import { Uia2Failure } from "./failure.ts";
import { everyNode, sourceOf, type TreeNode, treeOf } from "./tree.ts";
import { readUiQuery, type UiQuery } from "./uiSelector.ts";
import { selectByXPath } from "./xpath.ts";

type Locator = { strategy: string; selector: string; context?: string };
/** A toast that was heard of has a text and nothing else. */
type Known = { toast: string } | { key: string; locator: Locator | undefined };

const defaultSettings: Readonly<Record<string, unknown>> = {
  actionAcknowledgmentTimeout: 3_000,
  allowInvisibleElements: false,
  currentDisplayId: 0,
  enableMultiWindows: false,
  enableNotificationListener: true,
  ignoreUnimportantViews: false,
  keyInjectionDelay: 0,
  mjpegScalingFactor: 50,
  mjpegServerFramerate: 10,
  mjpegServerScreenshotQuality: 50,
  scrollAcknowledgmentTimeout: 200,
  shouldUseCompactResponses: true,
  snapshotMaxDepth: 70,
  waitForIdleTimeout: 10_000,
  waitForSelectorTimeout: 10_000,
};

const elementKey = "element-6066-11e4-a52e-4f735466cecf";
/** How long the notification listener remembers a toast. */
const toastMs = 3_500;
const mostSwipes = 30;

/** One session of the server: its settings and the elements that it has returned. */
export class Uia2Session {
  readonly id = randomUUID();
  readonly ui: LabUi;
  readonly clock: Clock;
  settings = defaultSettings;
  readonly #elements = new Map<string, Known>();
  #toast: { text: string; until: number } | undefined;
  readonly close: () => void;

  constructor(ui: LabUi, clock: Clock) {
    this.ui = ui;
    this.clock = clock;
    this.close = ui.onEvent((event) => {
      if (event.type === "toast") this.#toast = { text: event.text, until: clock.now() + toastMs };
    });
  }

  update(settings: Readonly<Record<string, unknown>>): void {
    this.settings = { ...this.settings, ...settings };
  }

  numberSetting(name: string): number {
    return Number(this.settings[name] ?? 0);
  }

  /** Waits for rest, which a screen that always moves never gives. */
  async untilIdle(): Promise<void> {
    const ms = this.numberSetting("waitForIdleTimeout");
    if (this.ui.isIdle() || ms <= 0) return;
    await new Promise<void>((resolve) => this.clock.after(ms, resolve));
  }

  tree(): TreeNode {
    const { ui, settings } = this;
    const toast = this.#toast && this.#toast.until > this.clock.now() ? this.#toast.text : undefined;
    return treeOf(ui, {
      roots: this.#roots(),
      toast: settings.enableNotificationListener === false ? undefined : toast,
      isCompressed: settings.ignoreUnimportantViews === true,
      maxDepth: this.numberSetting("snapshotMaxDepth"),
    });
  }

  source(): string {
    return sourceOf(this.tree());
  }

  #roots(): UiNode[] {
    const { ui, settings } = this;
    if (ui.faults.nullRoots > 0) {
      ui.faults.nullRoots -= 1;
      throw new Uia2Failure(
        "unknown error",
        "Timed out after 10000 milliseconds waiting for root AccessibilityNodeInfo",
      );
    }
    const display = this.numberSetting("currentDisplayId");
    if (settings.enableMultiWindows !== true) return [ui.active(display).root];
    return ui
      .windows(display)
      .toReversed()
      .flatMap(({ kind, root }) => (kind === "toast" ? [] : root));
  }

  async find(locator: Locator): Promise<object> {
    await this.untilIdle();
    const [found] = await this.#search(locator);
    if (!found) {
      throw new Uia2Failure(
        "no such element",
        "An element could not be located on the page using the given search parameters",
      );
    }
    return this.#elementOf(found, locator);
  }

  async findAll(locator: Locator): Promise<object[]> {
    await this.untilIdle();
    return (await this.#search(locator)).map((one) => this.#elementOf(one, undefined));
  }

  active(): object {
    const focused = [...everyNode(this.tree())].find(({ node }) => node?.focused);
    if (!focused) throw new Uia2Failure("no such element", "No element has the focus");
    return this.#elementOf(focused, undefined);
  }

  static idOf(element: Readonly<Record<string, unknown>>): string {
    return String(element[elementKey] ?? element.ELEMENT ?? "");
  }

  /** The node as it is now. One that is gone is looked for again if it was asked for alone. */
  node(id: string): UiNode {
    const known = this.#known(id);
    if ("toast" in known) throw new Uia2Failure("invalid element state", "A toast cannot be used");
    const { key, locator } = known;
    const now = this.#inWindows(key) ?? (locator && this.#again(id, locator));
    if (now) return now;
    const what = locator ? `By.${locator.strategy}: ${locator.selector}` : id;
    throw new Uia2Failure("stale element reference", `The element '${what}' does not exist in DOM anymore`);
  }

  textOf(id: string): string {
    const known = this.#known(id);
    return "toast" in known ? known.toast : (this.node(id).text ?? "");
  }

  /** Scrolls an area by its own length less a tenth; false where it cannot go on. */
  scrollOn(area: UiNode, way: "forward" | "backward"): boolean {
    const now = this.#inWindows(area.key);
    if (!now?.canScroll?.[way]) return false;
    const { x, y, width, height } = now.bounds;
    const middle = Math.round(x + width / 2);
    const [low, high] = [Math.round(y + height * 0.9), Math.round(y + height * 0.1)];
    const [from, to] = way === "forward" ? [low, high] : [high, low];
    this.ui.swipe({ x: middle, y: from }, { x: middle, y: to }, 60_000);
    return true;
  }

  #known(id: string): Known {
    const known = this.#elements.get(id);
    if (known) return known;
    throw new Uia2Failure(
      "no such element",
      `The element identified by '${id}' is not present in the cache or has expired. Try to find it again`,
    );
  }

  #inWindows(key: string): UiNode | undefined {
    for (const { root } of [...this.ui.windows(), ...this.ui.windows(1)]) {
      const found = within(root, key);
      if (found) return found;
    }
    return undefined;
  }

  #again(id: string, locator: Locator): UiNode | undefined {
    const query = this.#query(locator);
    const node = query.kind === "find" ? query.select(this.#from(locator))[0]?.node : undefined;
    if (node) this.#elements.set(id, { key: node.key, locator });
    return node;
  }

  #elementOf({ node, attributes }: TreeNode, locator: Locator | undefined): object {
    const id = randomUUID();
    this.#elements.set(id, node ? { key: node.key, locator } : { toast: attributes.get("text") ?? "" });
    return { ELEMENT: id, [elementKey]: id };
  }

  async #search(locator: Locator): Promise<TreeNode[]> {
    const query = this.#query(locator);
    if (query.kind === "scroll") return this.#scrollTo(query, locator);
    return query.select(this.#from(locator)).filter(({ tag }) => tag !== "hierarchy");
  }

  #scrollTo({ area, select }: Extract<UiQuery, { kind: "scroll" }>, locator: Locator): TreeNode[] {
    const scrolled = area(this.#from(locator))[0]?.node;
    const inSight = select(this.#from(locator));
    if (inSight.length > 0 || !scrolled) return inSight;
    for (const way of ["backward", "forward"] as const) {
      for (let swipe = 0; swipe < mostSwipes && this.scrollOn(scrolled, way); swipe++) {
        const found = select(this.#from(locator));
        if (found.length > 0) return found;
      }
    }
    return [];
  }

  #from({ context }: Locator): TreeNode {
    const tree = this.tree();
    if (!context) return tree;
    const { key } = this.node(context);
    const from = [...everyNode(tree)].find(({ node }) => node?.key === key);
    if (!from)
      throw new Uia2Failure("stale element reference", `The element '${context}' is not on the screen`);
    return from;
  }

  #query({ strategy, selector }: Locator): UiQuery {
    const by = (attribute: string, isWanted: (value: string) => boolean): UiQuery => ({
      kind: "find",
      select: (from) => [...everyNode(from)].filter((node) => isWanted(node.attributes.get(attribute) ?? "")),
    });
    switch (strategy) {
      case "id": {
        const id = selector.includes(":id/") ? selector : `${this.ui.front().packageName}:id/${selector}`;
        return by("resource-id", (value) => value === id);
      }
      case "accessibility id":
        return by("content-desc", (value) => value === selector);
      case "class name":
        return by("class", (value) => value === selector);
      case "xpath":
        return { kind: "find", select: (from) => selectByXPath(from, selector) };
      case "-android uiautomator":
        return readUiQuery(selector);
      default:
        throw new Uia2Failure("invalid selector", `The strategy ${strategy} is not supported`);
    }
  }
}

function within(node: UiNode, key: string): UiNode | undefined {
  if (node.key === key) return node;
  for (const child of node.children) {
    const found = within(child, key);
    if (found) return found;
  }
  return undefined;
}
