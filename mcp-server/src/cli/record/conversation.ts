import type { Terminal } from "../terminal.ts";
import { type Report, reportSchema, stepText } from "./report.ts";

export type Read = (options: {
  after?: number;
  wait_ms?: number;
  point?: boolean;
}) => Promise<Record<string, unknown>>;

const waitMs = 20_000;
const menu = "Enter ends the recording, c points at something to check (F2 in the browser): ";

/**
 * Shows steps as they come and asks for names of new screens, until the person ends it or the recording ends by itself. A question
 * is withdrawn as soon as it no longer matters, so a person who goes on acting need not answer.
 */
export class Conversation {
  /** By number of the screen. A screen without a name here has its proposed one. */
  readonly names = new Map<number, string>();
  #report: Report = { revision: 0, pointing: false, steps: [], screens: [] };
  #shown = 0;
  #asking: { screen: number | undefined; end: AbortController } | undefined;
  readonly #over = new AbortController();

  constructor(
    private readonly terminal: Pick<Terminal, "err" | "ask" | "signal">,
    private readonly read: Read,
    /** The name of a screen that the app's file has already. */
    private readonly knownName: (screen: Report["screens"][number]) => string | undefined,
  ) {
    terminal.signal.addEventListener("abort", () => this.#end(), { once: true });
    if (terminal.signal.aborted) this.#end();
  }

  get report(): Report {
    return this.#report;
  }

  /** Rejects where the recording can no longer be read. */
  async run(): Promise<void> {
    const asking = this.#ask();
    try {
      await this.#follow();
    } finally {
      this.#end();
      await asking;
    }
  }

  #end(): void {
    this.#over.abort();
    this.#asking?.end.abort();
  }

  async #follow(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const reading = this.read({ after: this.#report.revision, wait_ms: waitMs });
      const answer = await Promise.race([reading, this.#untilOver()]);
      if (answer === undefined) {
        // It is answered soon, since the recording is stopped next.
        reading.catch(() => undefined);
        return;
      }
      this.#take(reportSchema.parse(answer));
      if (this.#report.ended !== undefined) return;
    }
  }

  #untilOver(): Promise<undefined> {
    const { signal } = this.#over;
    return new Promise((resolve) => {
      if (signal.aborted) resolve(undefined);
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
  }

  #take(report: Report): void {
    const wasPointing = this.#report.pointing;
    this.#report = report;
    for (const [index, step] of report.steps.entries())
      if (index >= this.#shown) this.terminal.err(`${String(index + 1).padStart(3)} ${stepText(step)}\n`);
    // A double click takes the place of two clicks that were shown.
    this.#shown = report.steps.length;
    for (const [index, screen] of report.screens.entries()) {
      const known = this.knownName(screen);
      if (known !== undefined && !this.names.has(index)) this.names.set(index, known);
    }
    if (report.pointing && !wasPointing) this.terminal.err("Click what must be there.\n");
    if (this.#asking && this.#asking.screen !== this.#unnamed()) this.#asking.end.abort();
  }

  /** The newest screen that has no name yet: the one that the person sees. */
  #unnamed(): number | undefined {
    const last = this.#report.screens.length - 1;
    return last >= 0 && !this.names.has(last) ? last : undefined;
  }

  async #ask(): Promise<void> {
    const { ask } = this.terminal;
    while (ask && !this.#over.signal.aborted) {
      const screen = this.#unnamed();
      const end = new AbortController();
      this.#asking = { screen, end };
      const proposed = this.#report.screens[screen ?? -1]?.name;
      const question = screen === undefined ? menu : `Name of this screen [${proposed}]: `;
      const answer = await ask(question, end.signal);
      this.#asking = undefined;
      if (answer === undefined && end.signal.aborted) continue;
      if (answer === undefined) return this.#end();
      await this.#answered(answer.trim(), screen, proposed);
    }
  }

  async #answered(answer: string, screen: number | undefined, proposed: string | undefined): Promise<void> {
    if (screen !== undefined) {
      this.names.set(screen, answer || (proposed ?? ""));
      return;
    }
    if (answer === "") return this.#end();
    // It ended meanwhile.
    if (answer === "c") await this.read({ point: true }).catch(() => undefined);
  }
}
