import type { Element, Rect } from "@labwright/controllers";
import { FocusMap } from "#controllers/focus/focusMap.ts";
import type { Arrow } from "#controllers/focus/geometry.ts";
import { type FocusMove, moveFocus } from "#controllers/focus/moveFocus.ts";

export type Spot = { name: string; rect: Rect; role?: string };
type Next = (from: string, arrow: Arrow) => string | undefined;

const space = { width: 1_000, height: 600, rotation: 0 } as const;
const never = new AbortController().signal;

/** Rows of 100 by 50 with a gap of 10; `left` says where each row begins. */
export function rowsOf(rows: readonly (readonly string[])[], left: readonly number[] = []): Spot[] {
  return rows.flatMap((row, y) =>
    row.map((name, x) => ({
      name,
      rect: { x: (left[y] ?? 0) + x * 110, y: y * 60, width: 100, height: 50 },
    })),
  );
}

/** A screen that says what has the focus and moves it as `next` says; `press` and `look` may be watched. */
export class FakeScreen {
  focused: string | undefined;
  readonly keys: Arrow[] = [];
  /** Keys that left in one go. */
  readonly sends: Arrow[][] = [];
  /** So many snapshots after a press still show where the focus was. */
  lateLooks = 0;
  /** So many snapshots from now on show no focus. */
  blindLooks = 0;
  private shown: { name: string | undefined; looksLeft: number } | undefined;
  readonly map = new FocusMap();

  constructor(
    private readonly spots: () => readonly Spot[],
    private readonly next: Next,
    start?: string,
  ) {
    this.focused = start;
  }

  go(wanted: string, options: { timeoutMs?: number; mostPresses?: number } = {}): Promise<FocusMove> {
    return moveFocus(
      {
        focus: { focus: async () => this.look() },
        press: async (keys) => {
          this.sends.push([...keys]);
          for (const key of keys) this.press(key);
        },
        find: (candidates) => candidates.find(({ name }) => name === wanted),
      },
      { map: this.map, wanted, timeoutMs: 0, ...options },
      never,
    );
  }

  press(key: Arrow): void {
    this.keys.push(key);
    this.shown = { name: this.focused, looksLeft: this.lateLooks };
    this.focused = this.next(this.focused ?? "", key) ?? this.focused;
  }

  private look() {
    const shown = this.shown && this.shown.looksLeft > 0 ? this.shown.name : this.focused;
    if (this.shown) this.shown.looksLeft -= 1;
    const candidates = this.spots().map((spot, index) =>
      elementOf(spot, { index, isFocused: spot.name === shown }),
    );
    const isBlind = this.blindLooks-- > 0;
    const focused = isBlind ? undefined : candidates.find(({ name }) => name === shown);
    return { ...(focused && { focused }), candidates, space };
  }
}

function elementOf(
  { name, rect, role = "button" }: Spot,
  { index, isFocused }: { index: number; isFocused: boolean },
): Element {
  const states = isFocused ? ["focused"] : [];
  return { ref: `e${index + 1}`, role, name, states, rect, depth: 0, interactive: true };
}

/** What a plain table of rows does with arrows: one to the side, or to the nearest of the row above or below. */
export function tableOf(
  rows: readonly (readonly string[])[],
  { isRing = false }: { isRing?: boolean } = {},
): Next {
  return (from, arrow) => {
    const y = rows.findIndex((row) => row.includes(from));
    const row = rows[y];
    if (row === undefined) return rows[0]?.[0];
    const x = row.indexOf(from);
    const by = arrow === "LEFT" || arrow === "UP" ? -1 : 1;
    if (arrow === "UP" || arrow === "DOWN")
      return rows[y + by]?.at(Math.min(x, (rows[y + by] ?? []).length - 1));
    return isRing ? row.at((x + by) % row.length) : row[x + by];
  };
}
