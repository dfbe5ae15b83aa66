import type { Locator, Page } from "playwright-core";
import type { CommandResult, Usable } from "../../contract.ts";
import { sendInput } from "../../dispatch.ts";
import { shortened } from "../../elements/quoted.ts";
import { LOCATE_TIMEOUT_MS, type Target } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { pause, untilAborted, withDeadline } from "../../waiting/deadlines.ts";
import type { DrivenSession } from "../browser/session.ts";
import { asDeviceError, closedOnInput, dispatchedBy, timedOutOnInput } from "../page/failures.ts";
import { pulseOf } from "../page/pulse.ts";
import type { PageSignals } from "../page/signals.ts";
import { type KeptInput, KeptInputs } from "./keptInputs.ts";
import { locate } from "./locate.ts";
import { ask } from "./question.ts";
import { Settling } from "./settle.ts";

/** Playwright keeps the deadline itself and says what was in the way; the command is cut off this much later. */
const GRACE_MS = 3_000;
const BUSY_INPUT_MS = 15_000;
/** How long the page may take to read a field back. */
const JUDGE_MS = 5_000;
/** How long the tab may take to run the task after the action's own; a script may keep it busy. */
const BUSY_DEADLINE_MS = 2_000;
/** The browser has reported what it closed by then. */
const CLOSING_MS = 100;

/** Returns what could not be judged, in a few words; undefined if all was. */
type Judge = (signal: AbortSignal) => Promise<string | undefined>;
type Work = (action: Action) => Promise<unknown>;

let tokens = 0;

export type ActionOptions = {
  command: string;
  timeoutMs: number;
  signal: AbortSignal;
  /** What was done, in a few words. */
  done: string;
  /** The action asks the page piece by piece, each within `timeoutMs`, and may take longer as a whole. */
  isLong?: boolean;
  /** Waits first for the page that an earlier action opens. */
  awaitsPage?: boolean;
};

/** Runs the actions of a device, and remembers what they began and which inputs they made. */
export class Actions {
  readonly settling: Settling;
  readonly inputs: KeptInputs;

  constructor(readonly session: DrivenSession) {
    this.settling = new Settling(session);
    this.inputs = new KeptInputs(session);
  }

  /**
   * Runs one action, and waits for the page or tab that it opens. {@link untilUsable} waits once, after the last command, until the
   * screen is usable.
   */
  async run(options: ActionOptions, work: Work): Promise<CommandResult> {
    const { session } = this;
    const denials = session.guard.denials;
    const unfollow = session.follow();
    try {
      const earlier = options.awaitsPage ? await this.#onPageOf(options) : this.inputs.forget();
      return await new Action(this, options).result(work, earlier);
    } catch (error) {
      await this.#stopLoading(options.signal);
      throw asDeviceError(error, {
        ...options,
        isAlive: () => session.isAlive(),
        wasDenied: () => session.guard.denials > denials,
      });
    } finally {
      await unfollow();
    }
  }

  /**
   * Waits until everything that the last actions began has ended, at most two seconds after the last. Throws INPUT_NOT_TAKEN if the
   * page has lost an input meanwhile.
   */
  async untilUsable(signal: AbortSignal): Promise<Usable> {
    const usable = await this.settling.untilUsable(signal);
    if (usable === undefined) return { watchedMs: 0, goingOn: [] };
    await this.inputs.refuseLost(signal);
    return { ...usable, ...(this.settling.isNavigating() && { isHidden: true }) };
  }

  /** Waits for the page that an earlier action opened, and returns the inputs that it still holds. */
  async #onPageOf({ command, timeoutMs, signal }: ActionOptions): Promise<readonly KeptInput[]> {
    const page = this.session.page();
    if (this.session.signals(page).isNavigating()) {
      const deadline = withDeadline(signal, timeoutMs);
      try {
        await this.settling.documentReady(page, deadline.signal);
      } catch (error) {
        if (!deadline.over()) throw error;
        this.session.doubt();
        throw new DeviceError(
          "COMMAND_TIMEOUT",
          `${command} was not run: the page opened by the previous action did not load within ${timeoutMs} ms. Check that the site answers, or raise timeout_ms.`,
        );
      } finally {
        deadline.done();
      }
    }
    return this.inputs.take(signal);
  }

  /** A cancelled call must leave no navigation running. */
  async #stopLoading(signal: AbortSignal): Promise<void> {
    const { session } = this;
    if (!signal.aborted || !session.isAlive() || session.pages().length === 0) return;
    await session.signals(session.page()).stop();
  }
}

/** One action on the current tab: it runs, reaches the page that it opens, is judged and reported. */
export class Action {
  readonly page: Page;
  /** Its start, by `performance.now`. */
  readonly began = performance.now();
  /** Identifies the action and its field in all frames. */
  readonly token = ++tokens;
  /** Aborts with the call, and at the deadline of the current piece. */
  signal: AbortSignal;
  readonly #signals: PageSignals;
  readonly #before;
  #judge: Judge | undefined;

  constructor(
    private readonly actions: Actions,
    private readonly options: ActionOptions,
  ) {
    const { session } = actions;
    this.page = session.page();
    this.signal = options.signal;
    this.#signals = session.signals(this.page);
    this.#before = {
      url: this.page.url(),
      navigations: this.#signals.navigations(),
      windows: this.#signals.windowsAsked(),
      denials: session.guard.denials,
    };
  }

  get session(): DrivenSession {
    return this.actions.session;
  }

  get done(): string {
    return this.options.done;
  }

  /** The rest of the command's time in whole milliseconds, at least one; each piece of a long action has all of it. */
  left(): number {
    const { isLong, timeoutMs } = this.options;
    return isLong ? timeoutMs : Math.max(1, Math.round(this.began + timeoutMs - performance.now()));
  }

  /** Options of Playwright's actions. {@link Actions.run} waits for navigations, with a deadline of its own. */
  get limits() {
    return { timeout: this.left(), signal: this.signal, noWaitAfter: true };
  }

  /** Options of Playwright's navigations: they end when the DOM is ready. */
  get pageLimits() {
    return { timeout: this.left(), signal: this.signal, waitUntil: "domcontentloaded" as const };
  }

  locate(target: Target, timeoutMs = this.left(), searched?: string): Promise<Locator> {
    return locate(this.session, target, this.signal, timeoutMs, searched);
  }

  /** Runs one piece of a long action within a deadline of its own; `graceMs` longer while the page answers. */
  async piece<T>(work: () => Promise<T>, graceMs = 0): Promise<T> {
    const { command, timeoutMs } = this.options;
    const { signal } = this;
    const question = { what: command, ms: timeoutMs, graceMs, busyMs: busyMsOf(timeoutMs), signal };
    try {
      return await ask(this.session, question, (limited) => {
        this.signal = limited;
        return work();
      });
    } finally {
      this.signal = signal;
    }
  }

  /** Sends one of the inputs of an action that has several. */
  send<T>(input: () => Promise<T>): Promise<T> {
    return sendInput(input, dispatchedBy);
  }

  /** Has the field read again later; `isLost` returns true if it has lost the input. */
  keepInput(isLost: KeptInput["isLost"]): void {
    this.actions.inputs.keep({ action: this, isLost });
  }

  /** `judge` runs after the page has reacted, and throws if the action had no effect. */
  whenUsable(judge: Judge): void {
    this.#judge = judge;
  }

  /** Waits until the page has reacted to the action so far. */
  async reaction(): Promise<void> {
    this.actions.settling.ended();
    await this.actions.settling.reaction(this.signal);
  }

  async result(work: Work, earlier: readonly KeptInput[]): Promise<CommandResult> {
    const { signal } = this.options;
    await this.#run(work);
    const isReached = await this.#reach(signal);
    const unjudged = await this.#judged(signal);
    await this.actions.inputs.keepOn(earlier, signal);
    const result = this.#report(isReached ? this.done : `${this.done}; its page is not there yet`);
    return unjudged === undefined
      ? result
      : { ...result, message: `${result.message}; ${unjudged}`, isNews: true };
  }

  async #run(work: Work): Promise<void> {
    const { command, timeoutMs, isLong, awaitsPage, signal } = this.options;
    const question = {
      what: command,
      ms: isLong ? undefined : timeoutMs,
      graceMs: GRACE_MS,
      busyMs: busyMsOf(timeoutMs),
      signal,
      isOfApp: awaitsPage === true,
      wasDenied: () => this.session.guard.denials > this.#before.denials,
    };
    this.actions.settling.begins();
    try {
      await ask(this.session, question, async (limited) => {
        this.signal = limited;
        await sendInput(() => this.#work(work), dispatchedBy);
      });
    } finally {
      this.actions.settling.ended();
    }
  }

  /** An input without an answer counts as done if the page or the browser goes on. */
  async #work(work: Work): Promise<void> {
    const { signal } = this;
    try {
      await work(this);
    } catch (error) {
      if (closedOnInput(error) && (await this.#goesOn(signal))) return;
      if (!timedOutOnInput(error) || !(await this.#answersAgain(signal)))
        throw this.session.guard.explained(error, this.#signals.failedNavigation());
    }
  }

  /** Waits until a busy page answers again; false if it was not busy. */
  async #answersAgain(signal: AbortSignal): Promise<boolean> {
    if (pulseOf(this.page).silentMs() === undefined) return false;
    await untilAborted(this.page.evaluate("0"), signal);
    return true;
  }

  /** Whether the session goes on after an input that closed its own tab or frame: the browser is not gone. */
  async #goesOn(signal: AbortSignal): Promise<boolean> {
    await pause(CLOSING_MS, signal);
    return (
      this.session.isAlive() &&
      this.session.pages().some((page) => page !== this.page || !this.page.isClosed())
    );
  }

  /** Waits for the page or window that the action opens; false if it did not arrive in time. */
  async #reach(signal: AbortSignal): Promise<boolean> {
    await this.#flush(signal);
    const isReached = await this.actions.settling.arrival(this.page, this.#before.windows, signal);
    this.#refuseCrashed();
    this.#refuseDenied();
    return isReached;
  }

  /** Ends when the browser has reported the navigation, window or closing that the action's handlers began. */
  async #flush(signal: AbortSignal): Promise<void> {
    const { page } = this;
    const busy = withDeadline(signal, BUSY_DEADLINE_MS);
    try {
      const isClosing = await untilAborted(this.#signals.flush(busy.signal), busy.signal);
      if (isClosing && !page.isClosed())
        await page.waitForEvent("close", { timeout: 0, signal: busy.signal });
    } catch (error) {
      // The document went away, the tab closed or its script is busy: the next waits handle these.
      if (signal.aborted) throw error;
    } finally {
      busy.done();
    }
  }

  async #judged(signal: AbortSignal): Promise<string | undefined> {
    if (this.#judge === undefined) return undefined;
    await this.actions.settling.reaction(signal);
    if (this.session.page() !== this.page) return undefined;
    return ask(this.session, { what: this.options.command, ms: JUDGE_MS, signal }, this.#judge);
  }

  #refuseCrashed(): void {
    if (!this.#signals.hasCrashed()) return;
    throw new DeviceError(
      "PAGE_LOST",
      "The action was done, but its tab crashed. Open the app again, by navigate_to_url, open_app or by going to a screen.",
    );
  }

  #refuseDenied(): void {
    const { session } = this;
    const url = session.signals(session.page()).failedNavigation();
    if (url === undefined || session.guard.denials === this.#before.denials || !session.guard.wasDenied(url))
      return;
    throw new DeviceError(
      "URL_DENIED",
      `The action was done, but the URL policy denies the page it leads to: ${shortened(url, 200)}. Take another way or change url_policy.`,
    );
  }

  #report(done: string): CommandResult {
    const { session, page } = this;
    const now = session.page();
    const url = now.url();
    if (now !== page) {
      const data = { url, tab: session.pages().indexOf(now) };
      if (page.isClosed())
        return { message: `${done}; its tab closed, now in tab ${data.tab} at ${url}`, data };
      session.notify("tab", `a new tab ${data.tab} opened at ${url} and is the current one`);
      return { message: `${done}; a new tab opened and is now current: tab ${data.tab} at ${url}`, data };
    }
    if (url !== this.#before.url || this.#signals.navigations() > this.#before.navigations)
      return { message: `${done}; now at ${url}`, data: { url } };
    if (session.guard.denials > this.#before.denials)
      return { message: `${done}; the URL policy refused a request of the page` };
    return { message: done };
  }
}

/** A busy page gets more time, unless the caller gives less than the usual time. */
const busyMsOf = (timeoutMs: number): number =>
  timeoutMs < LOCATE_TIMEOUT_MS ? timeoutMs : Math.max(timeoutMs, BUSY_INPUT_MS);
