import type { LogLine } from "../ports.ts";

const keptLines = 5_000;
/** A line of iOS has some thousand characters, one of Android 4,000. */
const longestLine = 20_000;

/** A line as the device wrote it, in seconds since 1970, and what it says. */
export type WrittenLine = { raw: string; at: number; said: Pick<LogLine, "level" | "source" | "text"> };

type Kept = { line: LogLine; raw: string; at: number };

/** The newest lines of a device's log, each once and numbered. */
export class LogRing {
  #kept: Kept[] = [];
  #seq = 0;

  /** From when to read on: one millisecond early, since not all lines of the last one may have been there. */
  since(): number | undefined {
    const last = this.#kept.at(-1)?.at;
    return last === undefined ? undefined : last - 0.001;
  }

  /** The number of the newest line. */
  get last(): number {
    return this.#seq;
  }

  /** All behind a line, with how the device wrote them; `isWhole` is false where some are no longer kept. */
  behind(seq: number): { lines: readonly Kept[]; isWhole: boolean } {
    const lines = this.#kept.filter(({ line }) => line.seq > seq);
    return { lines, isWhole: this.#seq - lines.length === seq };
  }

  newest(after: number, limit: number): LogLine[] {
    return this.#kept
      .map(({ line }) => line)
      .filter(({ seq }) => seq > after)
      .slice(-limit);
  }

  /** Adds what follows the lines that are kept. */
  add(lines: readonly WrittenLine[]): void {
    for (const { raw, at, said } of lines.map(shortened))
      this.#kept.push({
        line: { seq: ++this.#seq, at: new Date(at * 1_000).toISOString(), ...said },
        raw,
        at,
      });
    this.#kept = this.#kept.slice(-keptLines);
  }

  /** Adds what was read from {@link since} on, but for the lines that are kept already. Returns what it added. */
  addNew<Line extends WrittenLine>(lines: readonly Line[]): Line[] {
    const known = this.#knownSince(this.since());
    const added = lines.map(shortened).filter(({ raw }) => {
      const count = known.get(raw) ?? 0;
      if (count > 0) known.set(raw, count - 1);
      return count === 0;
    });
    this.add(added);
    return added;
  }

  #knownSince(since = Number.POSITIVE_INFINITY): Map<string, number> {
    const known = new Map<string, number>();
    for (const { raw, at } of this.#kept) if (at >= since) known.set(raw, (known.get(raw) ?? 0) + 1);
    return known;
  }
}

function shortened<Line extends WrittenLine>(line: Line): Line {
  const { raw, said } = line;
  if (raw.length <= longestLine) return line;
  const text = said.text.slice(0, longestLine);
  return { ...line, raw: raw.slice(0, longestLine), said: { ...said, text } };
}
