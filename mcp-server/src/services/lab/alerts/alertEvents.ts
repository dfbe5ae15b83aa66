import type { Alert } from "../../../storage/index.ts";
import type { EventInput } from "../../ports.ts";

/** Kinds with which a device is of no use. */
const critical: ReadonlySet<string> = new Set(["blackscreen", "app_crash", "anr", "no_signal"]);

/** Told when an alert becomes active. */
export function activeEvent(alert: Alert): EventInput {
  const { kind, details, start_frame } = alert;
  return {
    ...about(alert),
    type: `alert.${kind}`,
    priority: critical.has(kind) ? "critical" : "high",
    payload: { kind, message: alert.message, details, ...(start_frame !== undefined && { start_frame }) },
  };
}

/** `was` is the state before: one that was only pending was never told of. */
export function resolvedEvent(alert: Alert, was: Alert["state"]): EventInput {
  const { kind, message, started_at, end_frame } = alert;
  return {
    ...about(alert),
    type: "alert.resolved",
    priority: "normal",
    payload: { kind, message, was, started_at, ...(end_frame !== undefined && { end_frame }) },
  };
}

export function triagedEvent(alert: Alert, before: Alert["triage"]): EventInput {
  const { kind, triage, triage_reason: reason, triaged_by: by } = alert;
  return {
    ...about(alert),
    type: "alert.triaged",
    priority: "normal",
    payload: {
      kind,
      triage,
      by,
      ...(reason !== undefined && { reason }),
      ...(before !== undefined && { before }),
    },
  };
}

const about = ({ id, device_id, source }: Alert) => ({
  source,
  alert_id: id,
  ...(device_id !== undefined && { device_id }),
});
