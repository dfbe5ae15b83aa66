import { untilAborted } from "../../waiting/deadlines.ts";
import type { Link } from "../link.ts";
import type { DriverSession } from "./session.ts";

type Opening = { link: Link; session: Promise<DriverSession>; control: AbortController };

/** The driver of one device: its session, opened when it is first needed and again after it was lost. */
export class Driver {
  readonly #open: (link: Link, signal: AbortSignal) => Promise<DriverSession>;
  #opening: Opening | undefined;
  #session: DriverSession | undefined;

  constructor(open: (link: Link, signal: AbortSignal) => Promise<DriverSession>) {
    this.#open = open;
  }

  /** The open session; undefined where none is. */
  find(): DriverSession | undefined {
    return this.#session?.isUsable() === true ? this.#session : undefined;
  }

  /** The session over this connection. Whoever does not wait for it any more leaves it to the next. */
  async session(link: Link, signal: AbortSignal): Promise<DriverSession> {
    const found = this.find();
    if (found?.link === link) return found;
    if (this.#opening?.link !== link) this.#begin(link);
    const opening = this.#opening;
    if (opening === undefined) throw new Error("A session that was begun is missing.");
    return untilAborted(opening.session, signal);
  }

  /** Resolves when nothing of it is left. */
  async close(): Promise<void> {
    const { control, session } = this.#opening ?? {};
    control?.abort(new Error("The device is closed."));
    await session?.catch(() => undefined);
    await this.#session?.end();
    this.#session = undefined;
  }

  /** After the session before has ended: Android has one UiAutomation. */
  #begin(link: Link): void {
    const control = new AbortController();
    const before = this.close();
    const open = async () => {
      await before;
      try {
        this.#session = await this.#open(link, control.signal);
        return this.#session;
      } finally {
        if (this.#opening === opening) this.#opening = undefined;
      }
    };
    const opening: Opening = { link, control, session: open() };
    opening.session.catch(() => undefined);
    this.#opening = opening;
  }
}
