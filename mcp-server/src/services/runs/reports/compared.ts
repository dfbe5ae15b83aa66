import type { Comparison } from "../../../domain/index.ts";
import type { RunRecords } from "../../../storage/index.ts";
import type { ExecutionService, Secrets } from "../../ports.ts";
import { decidingSteps } from "../judgement/facts.ts";
import { compareSteps } from "./compare.ts";
import { factsOf, stepViewOf } from "./runView.ts";

export type ComparedWith = {
  executions: Pick<ExecutionService, "get">;
  records: Pick<RunRecords, "ofTest">;
  secrets: Secrets;
};

const mostRows = 200;

/** Only the attempts that decided are compared. */
export async function comparison(
  executionId: string,
  { executions, records, secrets }: ComparedWith,
): Promise<Comparison> {
  const run = await executions.get(executionId);
  const { started_at, device } = run.execution;
  const earlier = (await records.ofTest(run.execution)).filter(
    (past) => past.status === "passed" && Date.parse(past.started_at) < Date.parse(started_at),
  );
  const record = earlier.find((past) => past.device === device) ?? earlier[0];
  if (!record) return { facts: [], rows: [], alike: 0, more: 0 };
  const { good, now } = secrets.mask({ good: await executions.get(record.id), now: run });
  const { pairs, first } = compareSteps(
    decidingSteps(good).map(stepViewOf),
    decidingSteps(now).map(stepViewOf),
  );
  let since = 0;
  const rows: Comparison["rows"] = [];
  for (const [index, pair] of pairs.entries()) {
    if (pair.differences.length === 0) since += 1;
    else {
      rows.push({ ...pair, alike: since, ...(index === first && { first: true as const }) });
      since = 0;
    }
  }
  const { id } = good.execution;
  const facts = differentFacts(factsOf(good.execution), factsOf(now.execution));
  const shown = rows.slice(0, mostRows);
  return {
    ...{ good: { id, started_at: good.execution.started_at }, facts, rows: shown },
    ...{ alike: pairs.length - rows.length, more: rows.length - shown.length },
  };
}

function differentFacts(
  good: readonly [string, string][],
  now: readonly [string, string][],
): Comparison["facts"] {
  const [then, today] = [new Map(good), new Map(now)];
  return [...new Set([...then.keys(), ...today.keys()])]
    .map((name): [string, string, string] => [name, then.get(name) ?? "", today.get(name) ?? ""])
    .filter(([, before, after]) => before !== after);
}
