import { ToolError } from "../../errors.ts";
import { type Database, type EventRows, eventChannel } from "../../storage/index.ts";
import type { Clock, EventInput, Secrets, StoredEvent } from "../ports.ts";
import { Repeater } from "./repeater.ts";

type EventListener = (event: StoredEvent) => void;
/** What happened, in the order in which it was committed, delivered at least once. */
export type Events = Pick<Outbox, keyof Outbox>;
export type EventFeed = Omit<Events, "append" | "purge">;

type EventsOptions = {
  rows: EventRows;
  clock: Clock;
  secrets: Pick<Secrets, "mask">;
  /** `Storage.listen`. */
  listen(channel: string, listener: () => void): Promise<() => void>;
  /** Called with a failure to read after a notification, which is read again a minute later at the latest. */
  onFault?(error: unknown): void;
};

const pageSize = 100;

export const createEvents = (options: EventsOptions): Events => new Outbox(options);

class Outbox {
  private readonly listeners = new Set<EventListener>();
  private listening: Promise<unknown> | undefined;
  private seen = 0;
  private readonly reading: Repeater;

  constructor(private readonly options: EventsOptions) {
    const { clock, onFault = () => {} } = options;
    this.reading = new Repeater(clock, () => this.readNew(), onFault);
  }

  /** Appends within a transaction, as its last statement: it is there if and only if what it reports is. A second event of a `delivery` is not stored. */
  async append(tx: Database, event: EventInput & { delivery?: string }): Promise<StoredEvent> {
    const { clock, secrets } = this.options;
    const payload = secrets.mask(event.payload);
    const stored = { ...event, payload, at: new Date(clock.now()).toISOString() };
    return { ...stored, id: await this.options.rows.append(tx, stored) };
  }

  read(range: Parameters<EventRows["read"]>[0]): Promise<StoredEvent[]> {
    return this.options.rows.read(range);
  }

  latestId(): Promise<number> {
    return this.options.rows.latestId();
  }

  /** Forgets what is older than an instant. */
  readonly purge = (before: string): Promise<void> => this.options.rows.purge(before);

  /** The last event that a consumer has done; 0 for a new one. It outlives the process. */
  cursor(consumer: string): Promise<number> {
    return this.options.rows.cursor(consumer);
  }

  /** A consumer has done all events up to `id`; this never goes back. Throws INVALID_INPUT for one that is yet to come. */
  async done(consumer: string, id: number): Promise<number> {
    const latest = await this.latestId();
    if (id > latest)
      throw new ToolError(
        "INVALID_INPUT",
        `There is no event ${id} yet; the latest is ${latest}.`,
        "Acknowledge the id of an event that you have read.",
      );
    await this.options.rows.advance(consumer, id);
    return this.cursor(consumer);
  }

  /** Calls `listener` with each event committed from now on, in order, of all processes. To start at a cursor: subscribe, then read. */
  async subscribe(listener: EventListener): Promise<() => void> {
    this.listening ??= this.startListening().catch((error: unknown) => {
      this.listening = undefined;
      throw error;
    });
    await this.listening;
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private async startListening(): Promise<void> {
    this.seen = await this.options.rows.latestId();
    await this.options.listen(eventChannel, () => this.reading.wake());
    this.reading.wake();
  }

  private async readNew(): Promise<void> {
    const page = await this.options.rows.read({ after: this.seen, limit: pageSize });
    for (const event of page) this.deliver(event);
    if (page.length === pageSize) this.reading.wake();
  }

  private deliver(event: StoredEvent): void {
    this.seen = event.id;
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch (error) {
        this.options.onFault?.(error);
      }
    }
  }
}
