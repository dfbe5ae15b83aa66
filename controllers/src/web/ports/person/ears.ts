import type { CDPSession, Frame, Page } from "playwright-core";
import { agentSource } from "../../page/inpage.ts";

/** Our script hears a person from a world of its own, so neither the page nor other scripts reach it or its way out. */
const world = "labwright-person";
const binding = "labwrightPerson";

export type Heard = {
  deed(json: string): void;
  /** The tab shows another document or another place of its document. `isAsked`: the page itself asked for it. */
  navigated(how: { isAsked: boolean; isWithin: boolean }): void;
  dialogAnswered(answer: { type: string; accept: boolean; text: string }): void;
};

/** Hears one tab: its own frame, and the frames that other processes draw. */
export class Ears {
  readonly #frames = new Set<Frame>();
  readonly #sessions = new Map<CDPSession, Set<number>>();
  readonly #onFrame = (frame: Frame) => void this.#hearFrame(frame);
  #own: CDPSession | undefined;
  #mainFrame = "";
  #isAsked = false;

  constructor(
    private readonly page: Page,
    private readonly testIdAttribute: string,
    private readonly heard: Heard,
  ) {}

  /** Rejects where the tab is gone. */
  async open(): Promise<void> {
    const { page } = this;
    const cdp = await page.context().newCDPSession(page);
    this.#own = cdp;
    this.#hearNavigations(cdp);
    this.#hearDialogs(cdp);
    await cdp.send("Page.enable");
    const { frameTree } = await cdp.send("Page.getFrameTree");
    this.#mainFrame = frameTree.frame.id;
    await this.#hear(cdp);
    page.on("framenavigated", this.#onFrame);
    await Promise.all(page.frames().map((frame) => this.#hearFrame(frame)));
  }

  async history(): Promise<{ at: number; length: number; url: string; how: string }> {
    if (!this.#own) return { at: 0, length: 0, url: "", how: "" };
    const { currentIndex: at, entries } = await this.#own.send("Page.getNavigationHistory");
    const { url = "", transitionType: how = "" } = entries[at] ?? {};
    return { at, length: entries.length, url, how };
  }

  /** What each document's script answers. One that is gone or busy answers nothing. */
  async ask(expression: string): Promise<unknown[]> {
    const asked = [...this.#sessions].flatMap(([cdp, worlds]) =>
      [...worlds].map(async (contextId) => {
        const signal = AbortSignal.timeout(answerMs);
        const given = { expression: `__labwright.${expression}`, contextId, returnByValue: true };
        return (await cdp.send("Runtime.evaluate", given, { signal })).result.value as unknown;
      }),
    );
    const answers = await Promise.allSettled(asked);
    return answers.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  async close(): Promise<void> {
    this.page.off("framenavigated", this.#onFrame);
    await this.ask("flushTyped()");
    await this.ask("pointAtElement(false)");
    // Scripts and bindings of a session go with it. One whose tab is gone has gone with the tab.
    await Promise.allSettled([...this.#sessions.keys()].map((cdp) => cdp.detach()));
    this.#sessions.clear();
  }

  /** Only a frame of another process has a session of its own, and a frame that moves to another process gets another. */
  async #hearFrame(frame: Frame): Promise<void> {
    if (frame.parentFrame() === null || this.#frames.has(frame)) return;
    this.#frames.add(frame);
    try {
      const cdp = await this.page.context().newCDPSession(frame);
      cdp.once("close", () => this.#frames.delete(frame));
      await cdp.send("Page.enable");
      await this.#hear(cdp);
    } catch {
      this.#frames.delete(frame);
    }
  }

  async #hear(cdp: CDPSession): Promise<void> {
    const worlds = new Set<number>();
    this.#sessions.set(cdp, worlds);
    cdp.once("close", () => this.#sessions.delete(cdp));
    cdp.on("Runtime.executionContextCreated", ({ context }) => {
      if (context.name === world) worlds.add(context.id);
    });
    cdp.on("Runtime.executionContextDestroyed", ({ executionContextId }) =>
      worlds.delete(executionContextId),
    );
    cdp.on("Runtime.executionContextsCleared", () => worlds.clear());
    cdp.on("Runtime.bindingCalled", ({ name, payload }) => {
      if (name === binding) this.heard.deed(payload);
    });
    await cdp.send("Runtime.enable");
    await cdp.send("Runtime.addBinding", { name: binding, executionContextName: world });
    const source = `${agentSource}.watchPerson(${JSON.stringify(binding)}, ${JSON.stringify(this.testIdAttribute)})`;
    const script = { source, worldName: world, runImmediately: true };
    await cdp.send("Page.addScriptToEvaluateOnNewDocument", script);
  }

  #hearNavigations(cdp: CDPSession): void {
    const asked = ({ frameId }: { frameId: string }) => {
      if (frameId === this.#mainFrame) this.#isAsked = true;
    };
    cdp.on("Page.frameRequestedNavigation", asked);
    cdp.on("Page.frameScheduledNavigation", asked);
    // Also where no document came of it, such as a download.
    cdp.on("Page.frameStoppedLoading", ({ frameId }) => {
      if (frameId === this.#mainFrame) this.#isAsked = false;
    });
    cdp.on("Page.frameNavigated", ({ frame }) => {
      if (frame.parentId) return;
      this.#mainFrame = frame.id;
      const isAsked = this.#isAsked;
      this.#isAsked = false;
      this.heard.navigated({ isAsked, isWithin: false });
    });
    cdp.on("Page.navigatedWithinDocument", ({ frameId }) => {
      if (frameId === this.#mainFrame) this.heard.navigated({ isAsked: false, isWithin: true });
    });
  }

  #hearDialogs(cdp: CDPSession): void {
    let type = "";
    cdp.on("Page.javascriptDialogOpening", (dialog) => {
      type = dialog.type;
    });
    cdp.on("Page.javascriptDialogClosed", ({ result, userInput }) =>
      this.heard.dialogAnswered({ type, accept: result, text: userInput }),
    );
  }
}

const answerMs = 1_000;
