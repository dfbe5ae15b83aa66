import { randomUUID } from "node:crypto";
import type { Clock, LabUi, UiNode } from "../android/labUi.ts";
import { everyNode, type TreeNode } from "../android/uia2/tree.ts";
import { locate } from "./locate.ts";
import { IosLogs } from "./logs.ts";
import { treeOf } from "./source.ts";
import { elementKey, WireFailure } from "./wire.ts";

export type Locator = { using: string; value: string };
type Known = { key: string; locator: Locator };

export type Call = { session: IosSession; ids: readonly string[]; body: unknown };
export type Handle = (call: Call) => unknown;

/** The app itself has no node of the screen. */
const appKey = "the app";

/** One session: the elements that it has returned, and what was set in it. */
export class IosSession {
  readonly id = randomUUID();
  settings: Readonly<Record<string, unknown>> = {};
  /** Where the device is made to be, by `mobile: setSimulatedLocation`. */
  location: { latitude: number; longitude: number } | undefined;
  /** Files of apps by their paths, in base64. */
  readonly files = new Map<string, string>();
  readonly logs: IosLogs;
  readonly #elements = new Map<string, Known>();
  readonly #clock: Clock;
  #lastCommand: number;

  constructor(
    readonly ui: LabUi,
    readonly capabilities: Readonly<Record<string, unknown>>,
    clock: Clock,
  ) {
    this.#clock = clock;
    this.logs = new IosLogs(ui, clock);
    this.#lastCommand = clock.now();
  }

  /** False after a time without commands that is longer than `newCommandTimeout`, in seconds. */
  isAlive(): boolean {
    const seconds = Number(this.capabilities["appium:newCommandTimeout"] ?? 60);
    const isAlive = seconds <= 0 || this.#clock.now() - this.#lastCommand <= seconds * 1_000;
    this.#lastCommand = this.#clock.now();
    return isAlive;
  }

  tree(): TreeNode {
    return treeOf(this.ui);
  }

  find(locator: Locator, context?: string): object {
    const [found] = this.#search(locator, context);
    if (found) return this.#elementOf(found, locator);
    throw new WireFailure(
      "no such element",
      "An element could not be located on the page using the given search parameters.",
    );
  }

  findAll(locator: Locator, context?: string): object[] {
    return this.#search(locator, context).map((one) => this.#elementOf(one, locator));
  }

  /** What has the keyboard, or on a TV the focus. */
  active(): object {
    const found = [...everyNode(this.tree())].find(({ node }) => node?.focused);
    if (found) return this.#elementOf(found, { using: "class name", value: found.tag });
    throw new WireFailure("no such element", "No element has keyboard focus");
  }

  element(id: string): TreeNode {
    const known = this.#elements.get(id);
    const found = known && [...everyNode(this.tree())].find((one) => (one.node?.key ?? appKey) === known.key);
    if (found) return found;
    throw new WireFailure(
      "stale element reference",
      `The previously found element "${known?.locator.value ?? id}" is not present in the current view anymore`,
    );
  }

  node(id: string): UiNode {
    const { node } = this.element(id);
    if (node) return node;
    throw new WireFailure("invalid element state", "The app itself cannot be used so");
  }

  #search(locator: Locator, context: string | undefined): TreeNode[] {
    return locate(context === undefined ? this.tree() : this.element(context), locator);
  }

  #elementOf({ node }: TreeNode, locator: Locator): object {
    const id = randomUUID();
    this.#elements.set(id, { key: node?.key ?? appKey, locator });
    return { ELEMENT: id, [elementKey]: id };
  }
}
