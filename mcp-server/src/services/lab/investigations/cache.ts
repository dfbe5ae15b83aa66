import { createHash } from "node:crypto";
import type { Clock } from "../../ports.ts";

const mostEntries = 500;
const mostBytes = 20_000_000;

/** Replies by what was asked, each for its own time. The one that was used longest ago goes first. */
export class ReplyCache {
  private readonly entries = new Map<string, { reply: unknown; until: number; bytes: number }>();
  private bytes = 0;

  constructor(private readonly clock: Pick<Clock, "monotonic">) {}

  find(question: unknown): { reply: unknown } | undefined {
    const key = keyOf(question);
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.forget(key);
    if (entry.until <= this.clock.monotonic()) return undefined;
    this.add(key, entry);
    return { reply: entry.reply };
  }

  keep(question: unknown, reply: unknown, ttlMs: number): void {
    const key = keyOf(question);
    const bytes = JSON.stringify(reply)?.length ?? 0;
    if (ttlMs <= 0 || bytes > mostBytes / 10) return;
    this.forget(key);
    this.add(key, { reply, until: this.clock.monotonic() + ttlMs, bytes });
    for (const [oldest] of this.entries) {
      if (this.entries.size <= mostEntries && this.bytes <= mostBytes) break;
      this.forget(oldest);
    }
  }

  private add(key: string, entry: { reply: unknown; until: number; bytes: number }): void {
    this.entries.set(key, entry);
    this.bytes += entry.bytes;
  }

  private forget(key: string): void {
    this.bytes -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
  }
}

const keyOf = (question: unknown) => createHash("sha256").update(JSON.stringify(question)).digest("base64");
