import { incident } from "./incident.ts";
import { judgeRun } from "./judgeRun.ts";
import { deploymentRuns, labHealth, otherEvent, reportOn } from "./reports.ts";
import type { Kind, Work } from "./work.ts";

/** Does the work of a task to its end: the first kind that is for its event. */
export function doWork(work: Work): Promise<void> {
  const { type, alert_id, execution_id } = work.event;
  if (alert_id !== undefined) return carryOut(incident, work);
  if (/^(script|testcase)\.completed$/.test(type) && execution_id !== undefined)
    return carryOut(judgeRun, work);
  if (type === "deployment.execution_done") return carryOut(reportOn(deploymentRuns), work);
  if (work.trigger.skill === "health-check") return carryOut(reportOn(labHealth), work);
  return carryOut(reportOn(otherEvent), work);
}

/**
 * The order that makes a finding be written once: it is found, stored, then written. One that an earlier attempt stored is
 * written as it is, never found anew.
 */
async function carryOut<Finding extends Readonly<Record<string, unknown>>>(
  kind: Kind<Finding>,
  work: Work,
): Promise<void> {
  const stored = kind.schema.safeParse(work.task.finding);
  const finding = stored.success ? stored.data : await kind.find(work);
  if (!stored.success) await work.keep(finding);
  work.signal.throwIfAborted();
  if (!work.agent.config.dry_run) await kind.write(work, finding);
}
