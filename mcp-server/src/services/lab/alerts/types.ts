import type { AlertTriage, Params } from "../../../domain/index.ts";
import type { Alert, AlertFilter, Database } from "../../../storage/index.ts";
import type { CallContext, Clock, DeviceService, EventInput, Secrets } from "../../ports.ts";

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

/** `created` is false for one that was open already. */
export type Raised = { alert: Alert; created: boolean };

/** `since` is an ISO date or time. */
export type AlertQuery = AlertFilter & { maxTokens: number };

export type AlertLine = { alert_id: string } & Pick<
  Alert,
  | "kind"
  | "state"
  | "triage"
  | "triage_reason"
  | "triaged_by"
  | "device_id"
  | "message"
  | "source"
  | "started_at"
  | "resolved_at"
  | "start_frame"
  | "end_frame"
>;
export type AlertPage = { alerts: AlertLine[]; more: number };

export type TriageAction = "acknowledge" | "discard" | "confirm";
/** `end_frame` is an artifact URI. */
export type ResolveInput = { end_frame?: string | undefined; message?: string | undefined };

export type AlertUpdate = {
  alert_id: string;
  action: TriageAction | "resolve";
  reason?: string | undefined;
};

/** `before` is its triage until now, where the update changed that. */
export type AlertView = {
  alert_id: string;
  kind: string;
  state: Alert["state"];
  triage?: AlertTriage;
  before?: AlertTriage;
};

export type OutsideAlert = { kind: string; message: string; device_id?: string | undefined };

/** Either an event with its type, or an alert and nothing else. */
export type OutsideEvent = {
  type?: string | undefined;
  priority?: EventInput["priority"] | undefined;
  device_id?: string | undefined;
  payload?: Params | undefined;
  alert?: OutsideAlert | undefined;
};

/** The id of the event, or the alert and whether it is a new one. */
export type PublishReply =
  | { event_id: number; type: string }
  | { alert_id: string; kind: string; state: Alert["state"]; created: boolean };

export type AlertService = {
  /**
   * Opens an alert, or moves the open one of its kind and device on; the newest message and details stand, the first
   * start frame. Throws INVALID_INPUT for a kind that is no name.
   */
  raise(input: RaiseInput): Promise<Raised>;
  /** Ends it, with the message that stands from then on; once more changes nothing. Throws ALERT_NOT_FOUND. */
  resolve(alertId: string, end?: ResolveInput): Promise<Alert>;
  /** What one source raised and nobody resolved, on any host. */
  open(source: string): Promise<Alert[]>;
  /** Newest first. Throws INVALID_INPUT for a time that is none. */
  list(query: AlertQuery): Promise<AlertPage>;
  /**
   * Triages, in place of an earlier triage, or resolves, which an alert from outside waits for; the same once more changes
   * nothing. Throws ALERT_NOT_FOUND, INVALID_INPUT for a discard without a reason.
   */
  update(request: AlertUpdate, context: CallContext): Promise<AlertView>;
  /** Throws INVALID_INPUT for a name of ours, INPUT_TOO_LARGE, DEVICE_NOT_FOUND. */
  publish(given: OutsideEvent, context: CallContext): Promise<PublishReply>;
};

export type AlertDependencies = {
  db: Database;
  devices: Pick<DeviceService, "find">;
  /** Appends inside the transaction that changes the alert. */
  events: { append(tx: Database, event: EventInput): Promise<{ id: number }> };
  secrets: Secrets;
  clock: Clock;
};
