import { z } from "zod";
import { alertStateSchema, alertTriageSchema, paramsSchema } from "../domain/index.ts";
import { maxTokensField, paged } from "../registry/fields.ts";
import { defineTool } from "../registry/tool.ts";

const shared = { domain: "alerts", capabilities: ["ALERTS"], timeoutMs: 30_000 } as const;

const name = z.string().optional();

export const listAlerts = defineTool({
  ...shared,
  name: "list_alerts",
  title: "List alerts",
  description: "Problems on devices or outside them, newest first",
  effect: "read",
  input: z.strictObject({
    state: alertStateSchema.optional(),
    kind: name,
    device: name,
    triage: z.enum([...alertTriageSchema.options, "none"]).optional(),
    since: name.describe("ISO time"),
    alert_id: name.describe("This one, with links to its pictures"),
    ...maxTokensField(2_000),
  }),
  unlisted: ["alert_id"],
  output: z.object({
    alerts: z.array(
      z.object({
        alert_id: z.string(),
        kind: z.string(),
        state: alertStateSchema,
        triage: alertTriageSchema.optional(),
        triage_reason: z.string().optional(),
        triaged_by: z.string().optional(),
        device_id: z.string().optional(),
        message: z.string(),
        source: z.string(),
        started_at: z.string(),
        resolved_at: z.string().optional(),
        start_frame: z.string().optional(),
        end_frame: z.string().optional(),
      }),
    ),
    more: z.int().optional().describe("Not shown; raise max_tokens or filter"),
  }),
  async handle({ input: { max_tokens: maxTokens, alert_id: id, ...filter }, services, attach }) {
    const found = await services.alerts.list({ ...filter, id, maxTokens });
    const frames = found.alerts.flatMap(({ start_frame, end_frame }) =>
      Object.entries({ start_frame, end_frame }),
    );
    for (const [frame, uri] of id === undefined ? [] : frames)
      if (uri !== undefined) attach({ kind: "link", uri, name: frame, mimeType: "image/*" });
    return paged(found);
  },
});

export const updateAlert = defineTool({
  ...shared,
  name: "update_alert",
  title: "Triage an alert",
  description:
    "Say what an alert is: seen (acknowledge), a fault (confirm) or none (discard), in place of an earlier triage; or end it (resolve)",
  effect: "write",
  idempotent: true,
  input: z.strictObject({
    alert_id: z.string().min(1),
    action: z.enum(["acknowledge", "discard", "confirm", "resolve"]),
    reason: z.string().max(2_000).optional().describe("Needed to discard"),
  }),
  output: z.object({
    alert_id: z.string(),
    kind: z.string(),
    state: alertStateSchema,
    triage: alertTriageSchema.optional(),
    before: alertTriageSchema.optional(),
  }),
  handle: ({ input, services, context }) => services.alerts.update(input, context),
});

export const publishEvent = defineTool({
  ...shared,
  name: "publish_event",
  title: "Publish an event",
  description:
    "Publish something external: an event (type, priority, device_id, payload) or an alert, which is active at once",
  effect: "write",
  input: z.strictObject({
    type: name.describe("Such as webhook.ci_failure, build.deployed"),
    priority: z.enum(["critical", "high", "normal"]).optional().describe("Default normal"),
    device_id: name,
    payload: paramsSchema.optional().describe("At most 64 KB"),
    alert: z
      .strictObject({
        kind: z.string().describe("lower_snake_case"),
        message: z.string().min(1).max(2_000),
        device_id: name,
      })
      .optional(),
    delivery: z.string().min(1).max(200).optional().describe("An event is published once for it"),
  }),
  unlisted: ["delivery"],
  output: z.object({
    event_id: z.int().optional(),
    type: z.string().optional(),
    alert_id: z.string().optional(),
    kind: z.string().optional(),
    state: alertStateSchema.optional(),
    created: z.boolean().optional().describe("False for one that was open already"),
  }),
  handle: ({ input, services, context }) => services.alerts.publish(input, context),
});
