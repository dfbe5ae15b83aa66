import type { Pool, PoolClient } from "pg";

type Listener = (payload: string) => void;

/**
 * NOTIFY of one database, passed to functions of this process. One connection of the pool is kept while anyone listens;
 * when it is lost, it is replaced, and every listener is called with an empty payload, since it may have missed some.
 */
export class Notifications {
  private readonly listeners = new Map<string, Set<Listener>>();
  private connecting: Promise<PoolClient> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly pool: Pool,
    private readonly retryMs = 1_000,
  ) {}

  /** Listening when it resolves. `channel` is a plain lower-case identifier. */
  async listen(channel: string, listener: Listener): Promise<() => void> {
    if (!/^[a-z_]+$/.test(channel)) throw new Error(`not a channel name: ${channel}`);
    const set = this.listeners.get(channel) ?? new Set();
    this.listeners.set(channel, set.add(listener));
    try {
      const client = await this.client();
      await client.query(`listen ${channel}`);
    } catch (error) {
      set.delete(listener);
      throw error;
    }
    return () => set.delete(listener);
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.retry);
    const connecting = this.connecting;
    this.connecting = undefined;
    connecting?.then(
      (client) => client.release(true),
      () => {},
    );
  }

  private client(): Promise<PoolClient> {
    this.connecting ??= this.connect().catch((error: unknown) => {
      this.connecting = undefined;
      throw error;
    });
    return this.connecting;
  }

  private async connect(): Promise<PoolClient> {
    const client = await this.pool.connect();
    client.on("notification", ({ channel, payload }) => this.notify(channel, payload ?? ""));
    client.once("error", (error) => {
      // What a server says to a connection that `close` gave back is the pool's to hear.
      if (this.closed) return;
      client.release(error);
      this.connecting = undefined;
      this.reconnectLater();
    });
    return client;
  }

  private notify(channel: string, payload: string): void {
    for (const listener of this.listeners.get(channel) ?? []) listener(payload);
  }

  private reconnectLater(): void {
    if (this.closed) return;
    this.retry = setTimeout(() => {
      void this.reconnect().catch(() => this.reconnectLater());
    }, this.retryMs).unref();
  }

  private async reconnect(): Promise<void> {
    const client = await this.client();
    for (const channel of this.listeners.keys()) {
      await client.query(`listen ${channel}`);
      this.notify(channel, "");
    }
  }
}
