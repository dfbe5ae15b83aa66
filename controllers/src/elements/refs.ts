import type { Element } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { orNearest } from "./failures.ts";

/** Elements of so many snapshots can still be acted on by their refs. */
const KEPT_LOOKS = 2;

export type Snapshot = { generation: number; elements: ReadonlyMap<string, Element> };

/**
 * The refs that the snapshots of one device have given out: `e12`, or `f1e2` with the prefix of a part that numbers its own. No
 * number is given twice, so a ref never names two elements.
 */
export class Refs {
  /** The latest snapshots, oldest first. */
  snapshots: readonly Snapshot[] = [];
  private generation = 0;
  private readonly next = new Map<string, number>();
  private readonly known = new Map<string, string>();

  /** The number that comes next behind a prefix. */
  nextNumber(prefix = ""): number {
    return this.next.get(prefix) ?? 1;
  }

  /** Numbers below `next` were given out by the part of this prefix. */
  numbered(prefix: string, next: number): void {
    this.next.set(prefix, Math.max(this.nextNumber(prefix), next));
  }

  /** For a device that does not number its elements: the ref of what `key` names, the same for as long as snapshots show it. */
  of(key: string): string {
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const number = this.nextNumber();
    this.numbered("", number + 1);
    this.known.set(key, `e${number}`);
    return `e${number}`;
  }

  /** Keeps a snapshot; returns its generation, from 1. */
  look(elements: readonly Element[]): number {
    const snapshot = {
      generation: ++this.generation,
      elements: new Map(elements.map((one) => [one.ref, one])),
    };
    this.snapshots = [...this.snapshots, snapshot].slice(-KEPT_LOOKS);
    for (const [key, ref] of this.known) if (this.recall(ref) === undefined) this.known.delete(key);
    return snapshot.generation;
  }

  /** The element that a ref named in the kept snapshots. */
  recall(ref: string): Element | undefined {
    return this.snapshots.findLast(({ elements }) => elements.has(ref))?.elements.get(ref);
  }

  /** `e12 button "Save"`, as far as it is known. */
  describe(ref: string): string {
    const known = this.recall(ref);
    return known ? `${ref} ${known.role} ${JSON.stringify(known.name)}` : ref;
  }

  /** Why a ref names nothing now: ELEMENT_NOT_FOUND when no snapshot gave it, else STALE_REF. */
  gone(ref: string, nearest: readonly string[]): DeviceError {
    if (!this.wasGiven(ref)) {
      return new DeviceError(
        "ELEMENT_NOT_FOUND",
        `No dump has given the ref ${ref}; call dump_ui_elements to get refs`,
        { ref },
      );
    }
    return new DeviceError(
      "STALE_REF",
      `${this.describe(ref)} is from an older snapshot and no longer on the screen; dump again${orNearest(nearest)}`,
      { ref, nearest },
    );
  }

  private wasGiven(ref: string): boolean {
    const [, prefix = "", number = ""] = /^([a-z]\d+)?e(\d+)$/.exec(ref) ?? [];
    return this.recall(ref) !== undefined || (number !== "" && Number(number) < this.nextNumber(prefix));
  }
}
