import { isDeepStrictEqual } from "node:util";
import type { AlertTriage, Params } from "../../../domain/index.ts";
import type { Alert } from "../../../storage/index.ts";
import type { EventInput } from "../../ports.ts";

/** What a detector saw. `device_id` is whole, `start_frame` an artifact URI. */
export type RaiseInput = {
  kind: string;
  state: "pending" | "active";
  message: string;
  source: string;
  device_id?: string | undefined;
  start_frame?: string | undefined;
  details?: Params | undefined;
  /** When it began, where that was before now. */
  started_at?: string | undefined;
};

export type TriageAction = "acknowledge" | "discard" | "confirm";
/** `end_frame` is an artifact URI. */
export type ResolveInput = { end_frame?: string | undefined; message?: string | undefined };

/** What a report makes of the open alert of its kind and device, or opens without one. `at` is now. */
export function raised(
  open: Alert | undefined,
  input: RaiseInput,
  { id, at }: { id: string; at: string },
): Alert {
  const startFrame = open?.start_frame ?? input.start_frame;
  const deviceId = open?.device_id ?? input.device_id;
  return {
    ...(open ?? { id, kind: input.kind, source: input.source, started_at: input.started_at ?? at }),
    ...(deviceId !== undefined && { device_id: deviceId }),
    ...(startFrame !== undefined && { start_frame: startFrame }),
    state: open?.state === "active" ? "active" : input.state,
    message: input.message,
    details: input.details ?? open?.details ?? {},
    updated_at: at,
  };
}

export function saysTheSame(one: Alert, other: Alert): boolean {
  return isDeepStrictEqual({ ...one, updated_at: "" }, { ...other, updated_at: "" });
}

export function resolved(alert: Alert, { end_frame, message }: ResolveInput, at: string): Alert {
  return {
    ...alert,
    state: "resolved",
    resolved_at: at,
    updated_at: at,
    ...(end_frame !== undefined && { end_frame }),
    ...(message !== undefined && { message }),
  };
}

const triageOf: Readonly<Record<TriageAction, AlertTriage>> = {
  acknowledge: "acknowledged",
  discard: "discarded",
  confirm: "confirmed",
};

export type Triaged = { alert: Alert; triage: AlertTriage; changed: boolean };

/** Nothing changes when that was done already and no other reason is given. */
export function triaged(
  alert: Alert,
  given: { action: TriageAction; reason: string | undefined; by: string; at: string },
): Triaged {
  const triage = triageOf[given.action];
  const isSameReason = given.reason === undefined || given.reason === alert.triage_reason;
  if (alert.triage === triage && isSameReason) return { alert, triage, changed: false };
  const { triage_reason: _, ...rest } = alert;
  const changed: Alert = {
    ...rest,
    triage,
    ...(given.reason !== undefined && { triage_reason: given.reason }),
    triaged_by: given.by,
    updated_at: given.at,
  };
  return { alert: changed, triage, changed: true };
}

/** Kinds with which a device is of no use. */
const critical: ReadonlySet<string> = new Set(["blackscreen", "app_crash", "anr", "no_signal"]);

export function activeEvent(alert: Alert): EventInput {
  const { kind, details, start_frame } = alert;
  return {
    ...about(alert),
    type: `alert.${kind}`,
    priority: critical.has(kind) ? "critical" : "high",
    payload: { kind, message: alert.message, details, ...(start_frame !== undefined && { start_frame }) },
  };
}

/** `was` is the state before: one that was only pending was never reported. */
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
