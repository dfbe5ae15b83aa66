import { findSandbox } from "@labwright/controllers";
import type { Finding } from "./finding.ts";

/** Whether scripts can be run, and in what. */
export async function checkSandbox(allowWithout: boolean, signal: AbortSignal): Promise<Finding> {
  const what = "sandbox for scripts";
  const found = await findSandbox(signal);
  if (found.ok) return { what, status: "ok", detail: "bubblewrap works" };
  const { reason, fix } = found;
  const detail = allowWithout
    ? `${reason}; scripts run without one, since unsafe.unsandboxed_scripts allows it`
    : `${reason}; execute_script refuses to run`;
  return { what, status: "warning", detail, fix };
}
