import { randomUUID } from "node:crypto";
import { nearest } from "@labwright/controllers";
import type { AlertTriage } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { type Alert, type AlertFilter, alertRows, type Database } from "../../../storage/index.ts";
import type { CallContext, Clock, DeviceService, EventInput, Secrets } from "../../ports.ts";
import { storableObject, storableText } from "../../records/executions/storable.ts";
import { optionalInstant } from "../../runs/results/instant.ts";
import { mostFitting, pageOf } from "../../values/pages.ts";
import {
  activeEvent,
  type RaiseInput,
  type ResolveInput,
  raised,
  resolved,
  resolvedEvent,
  saysTheSame,
  type TriageAction,
  type Triaged,
  triaged,
  triagedEvent,
} from "./lifecycle.ts";
import { checkKind, checkType, type OutsideEvent, readOutside, storablePayload } from "./outside.ts";

export type { OutsideEvent, RaiseInput, TriageAction };

export type AlertDependencies = {
  db: Database;
  devices: Pick<DeviceService, "find">;
  events: { append(tx: Database, event: EventInput): Promise<{ id: number }> };
  secrets: Secrets;
  clock: Clock;
};

type AlertUpdate = {
  alert_id: string;
  action: TriageAction | "resolve";
  reason?: string | undefined;
};

/** `before` is its triage until now, where the update changed that. */
type AlertView = {
  alert_id: string;
  kind: string;
  state: Alert["state"];
  triage?: AlertTriage;
  before?: AlertTriage;
};

/** Among so many of the newest ids the nearest to a wrong one is looked for. */
const candidates = 500;

export type AlertService = Pick<Alerts, keyof Alerts>;
export const createAlerts = (deps: AlertDependencies): AlertService => new Alerts(deps);

class Alerts {
  constructor(private readonly deps: AlertDependencies) {}

  /**
   * Opens an alert, or updates the open one of its kind and device (newest message, first frame); `created` is false for
   * one that was open already. Throws INVALID_INPUT.
   */
  async raise(given: RaiseInput): Promise<{ alert: Alert; created: boolean }> {
    checkKind(given.kind);
    const input = this.storable(given);
    const now = { id: randomUUID(), at: this.now() };
    return this.deps.db.transaction(async (tx) => {
      const rows = alertRows(tx);
      const open = await rows.claimOpen(input.kind, input.device_id);
      const alert = raised(open, input, now);
      if (open && saysTheSame(open, alert)) return { alert: open, created: false };
      await (open ? rows.update(alert) : rows.insert(alert));
      if (alert.state === "active" && open?.state !== "active")
        await this.deps.events.append(tx, activeEvent(alert));
      return { alert, created: open === undefined };
    });
  }

  /** Ends it, with the message that stands from then on; once more changes nothing. Throws ALERT_NOT_FOUND. */
  async resolve(alertId: string, end: ResolveInput = {}): Promise<Alert> {
    return this.change(alertId, async (alert, tx) => {
      if (alert.state === "resolved") return alert;
      const ended = resolved(alert, end, this.now());
      await alertRows(tx).update(ended);
      await this.deps.events.append(tx, resolvedEvent(ended, alert.state));
      return ended;
    });
  }

  /** Unresolved alerts of one source, on any host. */
  open(source: string): Promise<Alert[]> {
    return alertRows(this.deps.db).open(source);
  }

  /** Newest first. `since` is an ISO date or time; throws INVALID_INPUT for another. */
  async list({ maxTokens, ...query }: AlertFilter & { maxTokens: number }) {
    const { kind, device } = query;
    const filter = {
      ...query,
      kind: kind && storableText(kind),
      device: device && storableText(device),
      since: optionalInstant("since", query.since),
    };
    const { found, total } = await alertRows(this.deps.db).list(filter, mostFitting(maxTokens));
    const { items: alerts } = pageOf(found.map(lineOf), 0, maxTokens);
    return { alerts, more: total - alerts.length };
  }

  /** Triages or resolves; the same once more changes nothing. Throws ALERT_NOT_FOUND, INVALID_INPUT (discard without reason). */
  async update({ action, ...request }: AlertUpdate, context: CallContext): Promise<AlertView> {
    if (action !== "resolve") return this.triage({ action, ...request }, context);
    const { id, kind, state, triage } = await this.resolve(request.alert_id);
    return { alert_id: id, kind, state, ...(triage && { triage }) };
  }

  private async triage(
    { action, ...request }: AlertUpdate & { action: TriageAction },
    context: CallContext,
  ): Promise<AlertView> {
    const reason = request.reason?.trim() ? this.text(request.reason.trim()) : undefined;
    if (action === "discard" && reason === undefined) {
      throw new ToolError(
        "INVALID_INPUT",
        "Discarding an alert needs a reason.",
        "Say in reason why it is not an alert, such as a standby screen that is black on purpose.",
      );
    }
    return this.change(request.alert_id, async (alert, tx) => {
      const after = triaged(alert, { action, reason, by: context.principal, at: this.now() });
      if (after.changed) {
        await alertRows(tx).update(after.alert);
        await this.deps.events.append(tx, triagedEvent(after.alert, alert.triage));
      }
      return viewOf(after, alert.triage);
    });
  }

  /** Throws INVALID_INPUT for a name of ours, INPUT_TOO_LARGE, DEVICE_NOT_FOUND. */
  async publish(given: OutsideEvent, context: CallContext) {
    const read = readOutside(given);
    if ("alert" in read) {
      const { kind, message, device_id } = read.alert;
      const device = { device_id: this.deviceId(device_id) };
      const source = context.principal;
      const { alert, created } = await this.raise({ kind, state: "active", message, source, ...device });
      return { alert_id: alert.id, kind, state: alert.state, created };
    }
    checkType(read.type);
    const payload = this.deps.secrets.mask(storablePayload(given.payload ?? {}));
    const deviceId = this.deviceId(given.device_id);
    const event = {
      type: read.type,
      priority: given.priority ?? ("normal" as const),
      source: context.principal,
      ...(deviceId !== undefined && { device_id: deviceId }),
      ...(given.delivery !== undefined && { delivery: given.delivery }),
      payload,
    };
    const { id } = await this.deps.db.transaction((tx) => this.deps.events.append(tx, event));
    return { event_id: id, type: read.type };
  }

  private async change<T>(id: string, work: (alert: Alert, tx: Database) => Promise<T>): Promise<T> {
    const wanted = storableText(id);
    const done = await this.deps.db.transaction(async (tx) => {
      const alert = await alertRows(tx).claim(wanted);
      return alert && { result: await work(alert, tx) };
    });
    if (done) return done.result;
    const near = nearest(wanted, await alertRows(this.deps.db).ids(candidates), 3);
    throw new ToolError(
      "ALERT_NOT_FOUND",
      `There is no alert "${wanted}".`,
      near.length > 0 ? `Did you mean ${near.join(", ")}?` : "list_alerts shows all.",
      { nearest: near },
    );
  }

  private storable(input: RaiseInput): RaiseInput {
    const { details } = input;
    return {
      ...input,
      message: this.text(input.message),
      details: details && this.deps.secrets.mask(storableObject(details)),
    };
  }

  private text(given: string): string {
    return this.deps.secrets.mask(storableText(given));
  }

  private deviceId(name: string | undefined): string | undefined {
    return name === undefined ? undefined : this.deps.devices.find(name).id;
  }

  private now(): string {
    return new Date(this.deps.clock.now()).toISOString();
  }
}

function lineOf(alert: Alert) {
  const { id, details: _details, updated_at: _updated, ...line } = alert;
  return { alert_id: id, ...line };
}

const viewOf = ({ alert, triage }: Triaged, before: AlertTriage | undefined): AlertView => ({
  alert_id: alert.id,
  kind: alert.kind,
  state: alert.state,
  triage,
  ...(before && { before }),
});
