import type { Execution } from "../../../domain/index.ts";
import type { RunRecord } from "../../../storage/index.ts";
import type { NodeFlips } from "../../../storage/rows/navigationRows.ts";
import type { Claim, ExecutionService, MemoryService, StoredEvent } from "../../ports.ts";
import type { EventFeed } from "../../records/events.ts";
import { stepName } from "../../runs/judgement/facts.ts";
import { succession } from "../../runs/judgement/history.ts";
import { causeOf, type JudgementService } from "../../runs/judgement/index.ts";

/** As for a test without a known build: one change can break a node and another mend it, which is two flips. */
const fewestFlips = 3;

export type LearningDependencies = {
  memory: Pick<MemoryService, "learn">;
  events: Pick<EventFeed, "subscribe">;
  executions: Pick<ExecutionService, "get">;
  judgements: JudgementService;
  flipsOf(executionId: string): Promise<NodeFlips[]>;
  /** Each host learns from its own executions, so that none counts twice. */
  host: string;
  onFault(error: unknown): void;
};

export type Learning = ReturnType<typeof createLearning>;

/** Learns from executions as they end or are judged. One that ends while no daemon runs teaches nothing. */
export function createLearning(deps: LearningDependencies) {
  let unsubscribe = () => {};
  let work = Promise.resolve();
  async function learn(event: StoredEvent): Promise<void> {
    for (const claim of await claimsOf(event, deps)) await deps.memory.learn(claim);
  }
  return {
    async start(): Promise<void> {
      unsubscribe = await deps.events.subscribe((event) => {
        if (teaches(event)) work = work.then(() => learn(event)).catch(deps.onFault);
      });
    },
    async close(): Promise<void> {
      unsubscribe();
      await work;
    },
  };
}

/** An execution that did not pass, a pass that needed a retry, and a judgement. */
const teaches = ({ type, priority, payload }: StoredEvent): boolean =>
  type === "execution.analyzed" ||
  (/^\w+\.completed$/.test(type) && (priority === "high" || payload.flaky === true));

async function claimsOf(
  { type, execution_id = "", payload }: StoredEvent,
  { executions, judgements, flipsOf, host }: LearningDependencies,
): Promise<Claim[]> {
  const { execution, steps } = await executions.get(execution_id);
  if (execution.host_name !== host) return [];
  const record: RunRecord = { ...execution, unpassed: steps.filter(({ status }) => status !== "passed") };
  const failure = failureOf(record);
  if (type === "execution.analyzed") return failure ? [judged(failure, payload)] : [];
  const [own] = await judgements.of(execution_id);
  const isFlaky = own?.decided === true && own.flaky === true;
  return [
    ...(failure ? [failure] : []),
    ...(isFlaky ? [flakyTest(execution, own.confidence)] : []),
    ...(await flipsOf(execution_id)).filter(({ flips }) => flips >= fewestFlips).map(flakyNode(execution)),
  ];
}

/** The step that failed and its code; nothing for a fault of the lab, which says nothing of the app. */
function failureOf(record: RunRecord): Claim | undefined {
  const cause = causeOf(record);
  const step = record.unpassed.find((one) => stepName(one) === cause?.step);
  if (!cause || !step || cause.fault === "lab") return undefined;
  const text = `Step ${JSON.stringify(step.label)} fails with ${cause.code}`;
  return { ...subjectOf(record), kind: "failure", key: text, text, execution_id: record.id };
}

function subjectOf({ userinterface, device, name }: RunRecord): Pick<Claim, "scope" | "subject"> {
  if (userinterface !== undefined) return { scope: "userinterface", subject: userinterface };
  return device === undefined ? { scope: "test", subject: name } : { scope: "device", subject: device };
}

/** Of a judgement only its class counts, which is of a closed list, and its confidence; its words stay with the execution. */
function judged(
  { confidence: _, ...failure }: Claim,
  { name, classification, confidence }: StoredEvent["payload"],
): Claim {
  return {
    ...failure,
    ...{ scope: "test", subject: String(name), key: `judged ${failure.key}` },
    text: `${failure.text}, which was judged ${classification}`,
    ...(typeof confidence === "number" && { confidence }),
  };
}

const flakyTest = ({ id, name }: Pick<Execution, "id" | "name">, confidence: number): Claim => ({
  ...{ scope: "test", subject: name, kind: "flaky", key: "test", execution_id: id, confidence },
  text: `Test ${JSON.stringify(name)} passes and fails without a change`,
});

const flakyNode =
  ({ id }: Pick<Execution, "id">) =>
  ({ label, userinterface, device_model, flips }: NodeFlips): Claim => {
    const text = `Node ${JSON.stringify(label)} does not always show on ${device_model}`;
    const about = { scope: "userinterface", subject: userinterface, kind: "flaky" } as const;
    return { ...about, key: text, text, execution_id: id, confidence: succession(flips) };
  };
