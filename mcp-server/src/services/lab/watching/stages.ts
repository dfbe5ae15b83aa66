import { type FindingKind, findingKinds } from "@labwright/controllers";

/**
 * For how long a finding is seen before it is an alert that is pending, and active; and for how long behind an input of ours
 * it does not count.
 */
export type Thresholds = { pendingMs: number; activeMs: number; settleMs: number };
export type Stage = "seen" | "pending" | "active";

/** A finding that goes on. `countedFrom` is a monotonic moment; infinity for one that our own input explains. */
export type Ongoing = { kind: FindingKind; countedFrom: number };

const rank = (kind: FindingKind) => findingKinds.indexOf(kind);

/** Whether the first kind suppresses the second one: a black screen is no freeze as well. */
export const suppresses = (one: FindingKind, other: FindingKind) => rank(one) < rank(other);

/** How far a finding has come. One with a higher kind beside it, that counts, comes no further than `seen`. */
export function stageOf(finding: Ongoing, all: Iterable<Ongoing>, now: number, limits: Thresholds): Stage {
  if (isSuppressed(finding, all, now)) return "seen";
  const seenMs = now - finding.countedFrom;
  if (seenMs >= limits.activeMs) return "active";
  return seenMs >= limits.pendingMs ? "pending" : "seen";
}

function isSuppressed({ kind }: Ongoing, all: Iterable<Ongoing>, now: number): boolean {
  for (const other of all) if (suppresses(other.kind, kind) && other.countedFrom <= now) return true;
  return false;
}

/** When one of them counts or comes further next, by time alone; infinity for never. */
export function nextChange(all: Iterable<Ongoing>, now: number, limits: Thresholds): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { countedFrom } of all)
    for (const at of [countedFrom, countedFrom + limits.pendingMs, countedFrom + limits.activeMs])
      if (at > now && at < next) next = at;
  return next;
}
