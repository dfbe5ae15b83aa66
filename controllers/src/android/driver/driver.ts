import { untilAborted } from "../../waiting/deadlines.ts";
import type { Link } from "../link.ts";
import type { DriverSession } from "./session.ts";

/** `mayTakeOver`: the place of another program that reads the device. */
type OpenSession = (link: Link, mayTakeOver: boolean, signal: AbortSignal) => Promise<DriverSession>;
type Opening = { link: Link; session: Promise<DriverSession>; control: AbortController };

/** Two programs that each take back what they lost would never end. */
const mostTakenBack = 1;

/** The driver of one device: its session, opened when it is first needed and again after it was lost. */
export class Driver {
  readonly #open: OpenSession;
  #opening: Opening | undefined;
  #session: DriverSession | undefined;
  /** How often other programs ended our sessions since nobody else read the device. */
  #losses = 0;

  constructor(open: OpenSession) {
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
