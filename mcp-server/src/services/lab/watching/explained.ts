import type { FindingKind } from "@labwright/controllers";
import type { DeviceInput } from "../../devices/inputs.ts";

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
  const { key } = params;
  return typeof key === "string" && (ofKey[key.toUpperCase()]?.includes(finding) ?? false);
}

/**
 * From when on a finding counts that began at `began`, with the latest input before it: from its beginning; from the time when
 * the device must have settled behind that input; or never, which another input ends (`countsAfter`). A crash or an app that
 * does not answer is never explained by an input that did not close the app.
 */
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

/** The same for a finding that an earlier input meant, when another input has ended. */
export function countsAfter(finding: FindingKind, now: number, input: DeviceInput, settleMs: number): number {
  return isMeant(input, finding) ? Number.POSITIVE_INFINITY : now + (settles.has(finding) ? settleMs : 0);
}
