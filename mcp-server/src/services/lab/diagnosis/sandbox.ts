import { type DiagnosisFinding, findSandbox } from "@labwright/controllers";

/** Whether scripts can be run, and in what. */
export async function checkSandbox(allowWithout: boolean, signal: AbortSignal): Promise<DiagnosisFinding> {
  const what = "sandbox for scripts";
  const found = await findSandbox(signal);
  if (found.ok) return { what, status: "ok", detail: "bubblewrap works" };
  const { reason, fix } = found;
  const detail = allowWithout
    ? `${reason}; scripts run without one, since unsafe.unsandboxed_scripts allows it`
    : `${reason}; execute_script refuses to run`;
  return { what, status: "warning", detail, fix };
}
