import type { BrowserContext } from "playwright-core";
import type { DeviceNotice } from "../../contract.ts";
import { shortened } from "../../elements/quoted.ts";

const KEPT = 100;
/** Of the errors in consoles: a page that logs without end must not push all other notices out. */
const LOGGED_KEPT = 50;
const TEXT_LENGTH = 400;

/**
 * The last hundred. The same thing twice in a row is kept once, as the later of the two. A context's notice counts as in the background of the
 * run when another context is driven, be it when it happens or when it is read.
 */
export class Notices {
  readonly #kept: { notice: DeviceNotice; context: BrowserContext | undefined }[] = [];
  #seq = 0;

  constructor(private readonly isBackground: (context: BrowserContext) => boolean) {}

  /** `context`: the one whose page did it; none for what concerns the whole browser. */
  add(kind: DeviceNotice["kind"], text: string, context?: BrowserContext): void {
    const line = shortened(text.replace(/\s+/g, " "), TEXT_LENGTH);
    const last = this.#kept.at(-1);
    if (last?.notice.kind === kind && last.notice.text === line && last.context === context) this.#kept.pop();
    this.#seq++;
    const notice = { seq: this.#seq, kind, text: line, at: new Date().toISOString() };
    this.#kept.push({ notice: this.#marked(notice, context), context });
    const logged = this.#kept.filter((one) => one.notice.kind === "console_error");
    const [first] = logged.length > LOGGED_KEPT ? logged : this.#kept.slice(0, -KEPT);
    if (first) this.#kept.splice(this.#kept.indexOf(first), 1);
  }

  after(seq: number): readonly DeviceNotice[] {
    return this.#kept
      .filter(({ notice }) => notice.seq > seq)
      .map(({ notice, context }) => this.#marked(notice, context));
  }

  #marked(notice: DeviceNotice, context: BrowserContext | undefined): DeviceNotice {
    return context !== undefined && this.isBackground(context) ? { ...notice, background: true } : notice;
  }
}
