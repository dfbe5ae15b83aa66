import { untilAborted } from "../../waiting/deadlines.ts";
import type { Link } from "../link.ts";
import type { DriverSession } from "./session.ts";

/** `mayTakeOver`: may end another program's session. */
type OpenSession = (link: Link, mayTakeOver: boolean, signal: AbortSignal) => Promise<DriverSession>;
type Opening = { link: Link; session: Promise<DriverSession>; control: AbortController };

/** Without a limit, two programs would take the device from each other for ever. */
const mostTakenBack = 1;

export class Driver {
  readonly #open: OpenSession;
  #opening: Opening | undefined;
  #session: DriverSession | undefined;
  /** How often other programs took the device since the last undisturbed session. */
  #losses = 0;

  constructor(open: OpenSession) {
    this.#open = open;
  }

  find(): DriverSession | undefined {
    return this.#session?.isUsable() === true ? this.#session : undefined;
  }

  /** The session over this connection. A caller that stops waiting leaves it to the next one. */
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
    const last = this.#session;
    const before = this.close();
    const open = async () => {
      await before;
      if (last?.isTaken) this.#losses += 1;
      try {
        const session = await this.#open(link, this.#losses <= mostTakenBack, control.signal);
        if (!session.tookOver) this.#losses = 0;
        this.#session = session;
        return session;
      } finally {
        if (this.#opening === opening) this.#opening = undefined;
      }
    };
    const opening: Opening = { link, control, session: open() };
    opening.session.catch(() => undefined);
    this.#opening = opening;
  }
}
