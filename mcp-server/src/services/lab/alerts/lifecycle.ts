import { isDeepStrictEqual } from "node:util";
import type { AlertTriage } from "../../../domain/index.ts";
import type { Alert } from "../../../storage/index.ts";
import type { RaiseInput, ResolveInput, TriageAction } from "./types.ts";

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

/** Whether two states of one alert say the same. */
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
