import type { BrowserContext, Page } from "playwright-core";
import { z } from "zod";
import type { Selector } from "../../../contract.ts";
import { byWorth, toSelector } from "../../../elements/ranking.ts";
import { DeviceError } from "../../../errors.ts";
import type { PersonDeed, PersonListener, PersonSource, PersonWatch } from "../../../ports.ts";
import { endsWithin } from "../../../waiting/deadlines.ts";
import { type DrivenSession, testIdAttributeOf } from "../../browser/session.ts";
import { type Deed, type DeedTarget, deedSchema } from "../../page/agent/person/deed.ts";
import { countElsewhere } from "../../page/elementsInFrames.ts";
import { Ears } from "./ears.ts";

/** A move through the history that comes this soon after a deed is the page's answer to it. */
const answeredMs = 1_000;
const otherFramesMs = 1_000;
/** The tab of a closed window is replaced within this time if it was closed by a command. */
const replacedMs = 500;

type Tab = { page: Page; ears: Ears; at: number; length: number; lastDeed: number };

/** Hears a person in the tabs of a session's context, those to come too, until the watch ends or the context does. */
export function createPerson(session: DrivenSession): { person: PersonSource; isWatched(): boolean } {
  let current: LiveWatch | undefined;
  const person: PersonSource = {
    isSeen: () => session.isChromium() && (!session.settings.headless || session.settings.cdp !== undefined),
    async watch(listener) {
      if (current)
        throw new DeviceError(
          "ACTION_REJECTED",
          "A person's inputs are recorded already. Stop that recording first.",
        );
      const watch = new LiveWatch(session, listener, () => {
        current = undefined;
      });
      current = watch;
      try {
        await watch.open();
        return watch;
      } catch (error) {
        await watch.end();
        throw error;
      }
    },
  };
  return { person, isWatched: () => current !== undefined };
}

class LiveWatch implements PersonWatch {
  readonly #tabs = new Map<Page, Tab>();
  readonly #context: BrowserContext;
  readonly #onPage = (page: Page) => {
    void this.#hear(page);
    this.#later(async () => {
      if ((await page.opener()) !== null) this.#followed.add(page);
    });
  };
  readonly #onClose = () => this.#lose();
  #current: Page;
  /** Tabs that pages opened. A test gets into them by itself. */
  readonly #followed = new Set<Page>();
  #queue: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(
    private readonly session: DrivenSession,
    private readonly listener: PersonListener,
    private readonly ended: () => void,
  ) {
    this.#context = session.browserContext();
    this.#current = session.page();
  }

  async open(): Promise<void> {
    this.#context.on("page", this.#onPage);
    this.#context.once("close", this.#onClose);
    this.session.dialogs.leaveToPerson(true);
    await Promise.all(this.#context.pages().map((page) => this.#hear(page)));
  }

  async point(on: boolean): Promise<void> {
    await this.#askAll(`pointAtElement(${on})`);
  }

  async holdSecrets(texts: readonly string[]): Promise<boolean[]> {
    const answers = await this.#askAll(`holdSecrets(${JSON.stringify(texts)})`);
    const held = answers.map((answer) => z.array(z.boolean()).catch([]).parse(answer));
    return texts.map((_, at) => held.some((one) => one[at] === true));
  }

  async end(): Promise<void> {
    if (this.#isOver) return;
    await endsWithin(Promise.all([...this.#tabs.values()].map(({ ears }) => ears.close())), 2_000);
    await endsWithin(this.#queue, 2_000);
    this.#finish();
  }

  async #askAll(expression: string): Promise<unknown[]> {
    return (await Promise.all([...this.#tabs.values()].map(({ ears }) => ears.ask(expression)))).flat();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#context.off("page", this.#onPage);
    this.#context.off("close", this.#onClose);
    if (this.session.isAlive()) this.session.dialogs.leaveToPerson(false);
    this.ended();
  }

  #lose(): void {
    if (this.#isOver) return;
    this.#finish();
    this.listener.lost();
  }

  async #hear(page: Page): Promise<void> {
    const ears = new Ears(page, testIdAttributeOf(this.session), {
      deed: (json) => this.#later((at) => this.#take(tab, json, at)),
      navigated: (how) => this.#later((at) => this.#navigated(tab, how, at)),
      dialogAnswered: (answer) => this.#later((at) => this.#answered(answer, at)),
    });
    const tab: Tab = { page, ears, at: 0, length: 0, lastDeed: Number.NEGATIVE_INFINITY };
    this.#tabs.set(page, tab);
    page.once("close", () => this.#closed(tab));
    try {
      await ears.open();
      const { at, length } = await ears.history();
      Object.assign(tab, { at, length });
    } catch {
      // The tab closed while it was opened.
      this.#tabs.delete(page);
    }
  }

  /** In the order in which things were heard. What fails is of a page that has gone meanwhile. */
  #later(work: (at: number) => Promise<void>): void {
    const at = performance.now();
    this.#queue = this.#queue.then(() => work(at)).catch(() => undefined);
  }

  async #take(tab: Tab, json: string, at: number): Promise<void> {
    const deed = deedSchema.safeParse(parsed(json)).data;
    if (!deed) return;
    tab.lastDeed = at;
    if (deed.command === "picking")
      return this.listener.deed({ kind: "asked", on: deed.params.on === true, at });
    const { role = "", name = "" } = deed.target ?? {};
    const selectors = await this.#selectors(tab.page, deed, deed.target);
    if (deed.command === "pick") {
      await this.point(false);
      return this.listener.deed({ kind: "picked", selectors, role, text: String(deed.params.text), at });
    }
    await this.#follow(tab, at);
    const onto = deed.onto ? await this.#selectors(tab.page, deed, deed.onto) : [];
    const { command, params, replaces = 0, secret } = deed;
    this.#did({ command, params, at, selectors, onto, role, name, replaces, ...(secret && { secret }) });
  }

  #did(did: { command: string; at: number } & Partial<Extract<PersonDeed, { kind: "did" }>>): void {
    const nothing = { params: {}, selectors: [], onto: [], role: "", name: "", replaces: 0, isBefore: false };
    this.listener.deed({ ...nothing, ...did, kind: "did" });
  }

  /** Makes the person's tab the current one. */
  async #follow({ page }: Tab, at: number): Promise<void> {
    if (page === this.#current) return;
    this.#current = page;
    const tab = this.#context.pages().indexOf(page);
    if (!this.#followed.delete(page)) this.#did({ command: "switch_tab", params: { tab }, at });
    this.#followed.clear();
    await this.session.select(page);
  }

  async #selectors(page: Page, deed: Deed, of: DeedTarget | undefined): Promise<Selector[]> {
    if (!of) return [];
    const { candidates } = of;
    const frames = page.frames();
    const frame = deed.isTop ? page.mainFrame() : frames.find((one) => one.url().startsWith(deed.frame));
    const none = () => 0;
    const elsewhere =
      frame && frames.length > 1
        ? await countElsewhere(
            page,
            testIdAttributeOf(this.session),
            [{ frame, key: "", candidates }],
            AbortSignal.timeout(otherFramesMs),
          ).catch(() => none)
        : none;
    return candidates.map((one) => toSelector(one, elsewhere("", one))).sort(byWorth);
  }

  async #navigated(tab: Tab, { isAsked, isWithin }: { isAsked: boolean; isWithin: boolean }, at: number) {
    const before = { at: tab.at, length: tab.length };
    const now = await tab.ears.history();
    Object.assign(tab, { at: now.at, length: now.length });
    const isAnswer = at - tab.lastDeed < answeredMs;
    // A deed has one answer: what follows it is another deed.
    tab.lastDeed = Number.NEGATIVE_INFINITY;
    const moved = now.at < before.at ? "go_back" : "go_forward";
    const isMove = now.at < before.at || (now.at > before.at && now.length === before.length);
    if (isAsked || (isWithin && !isMove) || (isMove && isAnswer)) return;
    if (isMove) return this.#did({ command: moved, at });
    if (now.at === before.at && now.how === "reload") return this.#did({ command: "reload", at });
    const isTyped = /^(typed|auto_bookmark|generated|keyword|keyword_generated|auto_toplevel)$/.test(now.how);
    if (!isTyped || !/^https?:/.test(now.url)) return;
    await this.#follow(tab, at);
    this.#did({ command: "navigate_to_url", params: { url: now.url }, at });
  }

  async #answered({ type, accept, text }: { type: string; accept: boolean; text: string }, at: number) {
    if (!/^(confirm|prompt)$/.test(type)) return;
    const params = { accept, ...(type === "prompt" && accept && { prompt_text: text }) };
    this.#did({ command: "handle_dialog", params, at, isBefore: true });
  }

  #closed(tab: Tab): void {
    this.#tabs.delete(tab.page);
    const isAnswer = performance.now() - tab.lastDeed < answeredMs;
    if (tab.page === this.#current) {
      const next = this.#context.pages().at(-1);
      if (next && !isAnswer) this.#later(async (at) => this.#did({ command: "close_tab", at }));
      if (next) this.#current = next;
    }
    const timer = setTimeout(() => {
      if (this.#context.pages().length === 0) this.#lose();
    }, replacedMs);
    timer.unref();
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
