import { z } from "zod";
import type { Work } from "./work.ts";

const alertSchema = z.object({
  alert_id: z.string(),
  kind: z.string(),
  state: z.string(),
  triage: z.string().optional(),
  triaged_by: z.string().optional(),
  device_id: z.string().optional(),
  message: z.string(),
  start_frame: z.string().optional(),
});
export type AlertLine = z.output<typeof alertSchema>;

/** The alert that a task is about, as it stands now. */
export async function findAlert({ event, call, signal }: Work): Promise<AlertLine | undefined> {
  const { alert_id: id, device_id: device, payload } = event;
  const kind = typeof payload.kind === "string" ? payload.kind : undefined;
  const filter = { ...(kind !== undefined && { kind }), ...(device !== undefined && { device }) };
  const found = z.object({ alerts: z.array(alertSchema) });
  const { alerts } = await call("list_alerts", { ...filter, max_tokens: 50_000 }, found, signal);
  return alerts.find(({ alert_id }) => alert_id === id);
}
