import type { LabEvent } from "../types.ts";
import { incident } from "./incident.ts";
import { judgeRun } from "./judgeRun.ts";
import { deploymentRuns, labHealth, otherEvent, reportOn } from "./reports.ts";
import { carryOut, type Work } from "./work.ts";

type Choice = { isFor(event: LabEvent, skill: string): boolean; carryOut(work: Work): Promise<void> };

const health = reportOn(labHealth);
const deployment = reportOn(deploymentRuns);
const other = reportOn(otherEvent);

/** The first that is for an event does it. */
const choices: readonly Choice[] = [
  { isFor: ({ alert_id }) => alert_id !== undefined, carryOut: (work) => carryOut(incident, work) },
  {
    isFor: ({ type, execution_id }) =>
      /^(script|testcase)\.completed$/.test(type) && execution_id !== undefined,
    carryOut: (work) => carryOut(judgeRun, work),
  },
  {
    isFor: ({ type }) => type === "deployment.execution_done",
    carryOut: (work) => carryOut(deployment, work),
  },
  { isFor: (_, skill) => skill === "health-check", carryOut: (work) => carryOut(health, work) },
  { isFor: () => true, carryOut: (work) => carryOut(other, work) },
];

/** Does the work of a task to its end. */
export async function doWork(work: Work): Promise<void> {
  const choice = choices.find(({ isFor }) => isFor(work.event, work.trigger.skill));
  await choice?.carryOut(work);
}
