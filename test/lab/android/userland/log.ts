export const logLevels = ["V", "D", "I", "W", "E", "F"] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogBuffer = "main" | "system" | "crash" | "events";

export type LogEntry = {
  at: number;
  pid: number;
  tid: number;
  level: LogLevel;
  tag: string;
  text: string;
  buffer: LogBuffer;
};

const mostEntries = 20_000;

export class SystemLog {
  private entries: LogEntry[] = [];
  private readonly listeners = new Set<(entry: LogEntry) => void>();

  constructor(private readonly now: () => number) {}

  /** A text of several lines is as many entries. */
  write(entry: Omit<LogEntry, "at" | "tid" | "text"> & { at?: number }, text: string): void {
    for (const line of text.split("\n")) {
      const written = { at: this.now(), ...entry, tid: entry.pid, text: line };
      this.entries.push(written);
      if (this.entries.length > mostEntries) this.entries.shift();
      for (const listener of this.listeners) listener(written);
    }
  }

  kept(): readonly LogEntry[] {
    return this.entries;
  }

  clear(buffers: ReadonlySet<LogBuffer>): void {
    this.entries = this.entries.filter(({ buffer }) => !buffers.has(buffer));
  }

  onEntry(listener: (entry: LogEntry) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
