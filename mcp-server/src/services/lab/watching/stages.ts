import { type FindingKind, findingKinds } from "@labwright/controllers";
import type { DeviceInput } from "../../devices/inputs.ts";

/** How long a finding lasts until its alert is pending and active, and how long after our own input it does not count. */
export type Thresholds = { pendingMs: number; activeMs: number; settleMs: number };
export type Stage = "seen" | "pending" | "active";

/** A finding that goes on. `countedFrom` is a monotonic moment; infinity for one that our own input explains. */
export type Ongoing = { kind: FindingKind; countedFrom: number };

const rank = (kind: FindingKind) => findingKinds.indexOf(kind);

/** Whether the first kind suppresses the second one: a black screen is not a freeze as well. */
export const suppresses = (one: FindingKind, other: FindingKind) => rank(one) < rank(other);

/** How far a finding has come. Next to one of a higher kind that counts, it stays `seen`. */
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

/** What a device may show for a while (`settleMs`) behind any input: it opens an app, tunes, starts a film. */
const settles: ReadonlySet<FindingKind> = new Set([
  "no_signal",
  "blackscreen",
  "freeze",
  "macroblocks",
  "audio_loss",
]);

const off: readonly FindingKind[] = ["no_signal", "blackscreen", "freeze", "audio_loss"];
const still: readonly FindingKind[] = ["freeze", "audio_loss"];

/** What a key causes on purpose, for as long as nothing else is pressed. */
const ofKey: Readonly<Record<string, readonly FindingKind[]>> = {
  POWER: off,
  POWER_OFF: off,
  SLEEP: off,
  STANDBY: off,
  STOP: ["blackscreen", ...still],
  PAUSE: still,
  PLAY_PAUSE: still,
  MUTE: ["audio_loss"],
  VOLUME_DOWN: ["audio_loss"],
};

/** Whether an input means to cause a finding of a kind, which then lasts until another input. */
function isMeant({ kind, command, params }: DeviceInput, finding: FindingKind): boolean {
  if (kind === "power") return off.includes(finding);
  if (command === "close_app") return finding === "app_crash";
  const key = Array.isArray(params.keys) ? params.keys.at(-1) : params.key;
  return typeof key === "string" && (ofKey[key.toUpperCase()]?.includes(finding) ?? false);
}

/** When a finding that began at `began` counts: at once, once the device settled after our input, or never if that explains it. */
export function countsFrom(
  finding: FindingKind,
  began: number,
  input: DeviceInput | undefined,
  settleMs: number,
): number {
  if (!input) return began;
  if (isMeant(input, finding)) return Number.POSITIVE_INFINITY;
  const settled = (input.endedAt ?? began) + settleMs;
  return settles.has(finding) && began <= settled ? settled : began;
}

/** The same for a finding that an earlier input explained, when another input has ended. */
export function countsAfter(finding: FindingKind, now: number, input: DeviceInput, settleMs: number): number {
  return isMeant(input, finding) ? Number.POSITIVE_INFINITY : now + (settles.has(finding) ? settleMs : 0);
}
