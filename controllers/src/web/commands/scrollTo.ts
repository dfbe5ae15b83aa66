import type { Frame, Locator } from "playwright-core";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { poll } from "../../waiting/deadlines.ts";
import type { Action, Actions } from "../acting/action.ts";
import { askAgent } from "../page/askAgent.ts";
import { askFrames } from "../page/elementsInFrames.ts";
import { nameOf, type Timed } from "./elementCommand.ts";

/** Before anything is scrolled: an element that is only late. */
const LATE_MS = 1_000;
const LEAST_SEARCH_MS = 60_000;
/** At an end a list may still ask for more. */
const MORE_MS = 1_000;
const MOST_SCREENS = 200;

type List = { frame: Frame; at: number; name: string };

/** Lists that draw only what is in sight are looked through, down to their end and up to their beginning. */
export function scrollToElement(actions: Actions): Command {
  return defineCommand({
    ...portable.scroll_to_element,
    run(target, signal) {
      const options = {
        ...{ command: "scroll_to_element", timeoutMs: target.timeout_ms, signal },
        ...{ done: `scrolled to ${nameOf(target)}`, isLong: true, awaitsPage: true },
      };
      return actions.run(options, (action) => new Search(target, action).run());
    },
  });
}

class Search {
  private readonly until: number;
  private readonly ends: string[] = [];
  private found: Locator | undefined;

  constructor(
    private readonly target: Timed,
    private readonly action: Action,
  ) {
    this.until = action.began + Math.max(target.timeout_ms, LEAST_SEARCH_MS);
  }

  async run(): Promise<void> {
    if (!(await this.looks(Math.min(LATE_MS, this.target.timeout_ms)))) await this.throughLists();
    const locator = this.found ?? (await this.locate(0, this.searched()));
    await this.ask(() => locator.scrollIntoViewIfNeeded(this.action.limits));
  }

  private ask<T>(work: () => Promise<T>): Promise<T> {
    return this.action.piece(work, LATE_MS);
  }

  private searched(): string {
    return this.ends.length === 0 ? "; nothing here scrolls" : `: reached ${this.ends.join(", ")}`;
  }

  private locate(ms: number, searched?: string): Promise<Locator> {
    return this.ask(() => this.action.locate(this.target, ms, searched));
  }

  /** Whether the element is there. Throws all that says more than that it is not. */
  private async looks(ms = 0): Promise<boolean> {
    try {
      this.found = await this.locate(ms);
      return true;
    } catch (error) {
      if (!(error instanceof DeviceError) || error.code !== "ELEMENT_NOT_FOUND") throw error;
      return false;
    }
  }

  private async throughLists(): Promise<void> {
    const answers = await this.ask(() =>
      askFrames(this.action.page, this.action.signal, (frame) => askAgent(frame, "findLists", [])),
    );
    const lists = answers.flatMap(({ frame, answer }) => answer.map((name, at) => ({ frame, at, name })));
    for (const list of lists) {
      if (await this.through(list, "on")) return;
      await this.scroll(list, "where it began");
      if (await this.through(list, "back")) return;
      await this.scroll(list, "where it began");
    }
  }

  private async through(list: List, way: "on" | "back"): Promise<boolean> {
    for (let screens = 0; ; screens++) {
      if (screens >= MOST_SCREENS || performance.now() > this.until) {
        this.ends.push(`no end of ${list.name} after ${screens} screens`);
        return false;
      }
      const isMoved = await this.moves(list, way);
      if (await this.looks()) return true;
      if (!isMoved) {
        this.ends.push(`the ${way === "on" ? "end" : "beginning"} of ${list.name} after ${screens} screens`);
        return false;
      }
    }
  }

  /** Goes on by a screen; at an end it waits a moment for more. */
  private async moves(list: List, way: "on" | "back"): Promise<boolean> {
    const { signal } = this.action;
    const isMoved =
      (await this.scroll(list, way)) ||
      (await poll(() => this.scroll(list, way), { everyMs: 100, ms: MORE_MS, signal }));
    if (isMoved) await this.action.reaction();
    return isMoved;
  }

  private scroll({ frame, at }: List, way: "on" | "back" | "where it began"): Promise<boolean> {
    return this.ask(() => askAgent(frame, "scrollList", [at, way]));
  }
}
