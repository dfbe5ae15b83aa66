import { ToolError } from "../../errors.ts";
import type { Database, EventRows } from "../../storage/index.ts";
import { eventChannel } from "../../storage/index.ts";
import type { Clock, EventInput, Secrets, StoredEvent } from "../ports.ts";

export type EventListener = (event: StoredEvent) => void;
/** What happened, in the order in which it was committed, told at least once. */
export type Events = {
  /** Appends within a transaction, as its last statement: it is there if and only if what it reports is. */
  append(tx: Database, event: EventInput): Promise<StoredEvent>;
  /** Events with an id over `after`, in order. */
  read(range: { after: number; limit: number }): Promise<StoredEvent[]>;
  latestId(): Promise<number>;
  /**
   * Calls `listener` with each event that is committed from now on, in order, also those of other processes. Listening
   * when it resolves; to start at a cursor, subscribe, then read, and leave out what was seen.
   */
  subscribe(listener: EventListener): Promise<() => void>;
  /** The last event that a consumer has done; 0 for a new one. It outlives the process. */
  cursor(consumer: string): Promise<number>;
  /** A consumer has done all events up to `id`; this never goes back. Throws INVALID_INPUT for one that is yet to come. */
  done(consumer: string, id: number): Promise<number>;
};
/** What a reader of the feed needs. */
export type EventFeed = Omit<Events, "append">;

export type EventsOptions = {
  rows: EventRows;
  clock: Clock;
  secrets: Pick<Secrets, "mask">;
  /** `Storage.listen`. */
  listen(channel: string, listener: () => void): Promise<() => void>;
  /** Hears of a failure to read after a notification; the next one reads again. */
  onFault?(error: unknown): void;
};

const pageSize = 100;

export const createEvents = (options: EventsOptions): Events => new Outbox(options);

class Outbox implements Events {
  private readonly listeners = new Set<EventListener>();
  private listening: Promise<unknown> | undefined;
  private seen = 0;
  private draining = false;
  private again = false;

  constructor(private readonly options: EventsOptions) {}

  async append(tx: Database, event: EventInput): Promise<StoredEvent> {
    const { clock, secrets } = this.options;
    const payload = secrets.mask(event.payload);
    const stored = { ...event, payload, at: new Date(clock.now()).toISOString() };
    return { ...stored, id: await this.options.rows.append(tx, stored) };
  }

  read(range: { after: number; limit: number }): Promise<StoredEvent[]> {
    return this.options.rows.read(range);
  }

  latestId(): Promise<number> {
    return this.options.rows.latestId();
  }

  cursor(consumer: string): Promise<number> {
    return this.options.rows.cursor(consumer);
  }

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
    await this.options.listen(eventChannel, () => this.wake());
    this.wake();
  }

  /** One reader at a time; a notification during a read makes it read once more. */
  private wake(): void {
    this.again = true;
    if (!this.draining) void this.drain();
  }

  private async drain(): Promise<void> {
    this.draining = true;
    try {
      while (this.again) await this.readPage();
    } catch (error) {
      this.options.onFault?.(error);
    } finally {
      this.draining = false;
    }
  }

  private async readPage(): Promise<void> {
    this.again = false;
    const page = await this.options.rows.read({ after: this.seen, limit: pageSize });
    for (const event of page) this.tell(event);
    if (page.length === pageSize) this.again = true;
  }

  private tell(event: StoredEvent): void {
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
