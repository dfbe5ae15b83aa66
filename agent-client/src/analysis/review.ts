import { causeOf } from "./cause.ts";
import { judge } from "./judge.ts";
import type { Classification, FinishedRun, Judgement, OtherRun, PastRun } from "./types.ts";

/** Where the record is read. Bounded: the newest of each. */
export type RunSource = {
  run(executionId: string): Promise<FinishedRun>;
  /** Finished runs of the same test without itself. */
  history(run: FinishedRun): Promise<PastRun[]>;
  /** Runs that finished about the same time, of any test, without itself. */
  around(run: FinishedRun): Promise<OtherRun[]>;
};

/** `others` are runs that were open and that this one decided. */
export type Review = {
  run: FinishedRun;
  history: readonly PastRun[];
  judgement: Judgement;
  others: { execution_id: string; judgement: Extract<Judgement, { decided: true }> }[];
};

const mostEarlier = 10;

/**
 * Judges a run, and before it the failures of its test that nothing had decided yet: a rerun is what they waited for, and
 * what they turn out to be counts for this one.
 */
export async function review(run: FinishedRun, source: RunSource): Promise<Review> {
  let history = await source.history(run);
  const others: Review["others"] = [];
  for (const past of history.filter(isOpen).slice(0, mostEarlier)) {
    const earlier = await source.run(past.execution_id);
    const judgement = judge({
      run: earlier,
      history: seenFrom(past, run, history),
      others: await source.around(earlier),
    });
    if (!judgement.decided) continue;
    others.push({ execution_id: past.execution_id, judgement });
    history = history.map((one) =>
      one === past ? { ...one, classification: judgement.classification } : one,
    );
  }
  const around = await source.around(run);
  const judgement = judge({ run, history, others: around });
  return { run, history, judgement, others: [...others, ...ofTheSameCause(judgement, around)] };
}

const isOpen = ({ status, build, classification }: PastRun): boolean =>
  classification === undefined &&
  build !== "other" &&
  (status === "failed" || status === "error" || status === "timeout");

/** The history of an earlier run of the same build: the others and the new one. */
function seenFrom(past: PastRun, run: FinishedRun, history: readonly PastRun[]): PastRun[] {
  const { execution_id, name, status, device, started_at } = run;
  const cause = causeOf(run);
  const newest = {
    execution_id,
    name,
    status,
    device,
    started_at,
    build: past.build,
    ...(cause && { cause }),
  };
  return [...history.filter((one) => one !== past), newest];
}

/** One fault is judged once: those that failed of it and are still open are told the same. */
function ofTheSameCause(judgement: Judgement, around: readonly OtherRun[]): Review["others"] {
  if (!judgement.decided || !judgement.members) return [];
  const classified = new Map<string, Classification | undefined>(
    around.map(({ execution_id, classification }) => [execution_id, classification]),
  );
  return judgement.members
    .filter((id) => classified.has(id) && classified.get(id) === undefined)
    .map((execution_id) => ({ execution_id, judgement }));
}
