import { randomUUID } from "node:crypto";
import { atMost } from "../clock.ts";
import { AgentError } from "../errors.ts";
import { ToolFailure } from "../mcp/calls.ts";
import type { Role } from "../messages/contents.ts";
import { type Envelope, newMessage, readMessage, replyTo } from "../messages/envelope.ts";
import type { Clock } from "../ports.ts";
import type { Executor, Job, Outcome } from "./executor.ts";
import { testDataIn, withoutPersonal } from "./policy.ts";
import { type Candidate, decide, remembered } from "./router.ts";

/** Where messages are kept, by their correlation id. A message that is there already stays as it is. */
export type MessageLog = { add(message: Envelope): Promise<void> };

type DeskDeps = {
  /** Looked up for each message: hosts come and go. */
  executors(signal: AbortSignal): Promise<readonly Executor[]>;
  log: MessageLog;
  clock: Clock;
};

/** Takes messages, routes each to a role, and stores the message, each decision and the reply. */
export type Desk = {
  /**
   * The reply. Throws INVALID_INPUT for a message that is refused, and INVALID_RESPONSE for a reply that lacks a required
   * field. A message that no one could take has a reply with status BLOCKED.
   */
  deliver(given: unknown, options: Pick<Job, "signal" | "progress">): Promise<Envelope>;
};

const healthMs = 5_000;
const roleNames: Readonly<Record<Role, string>> = {
  ...{ planner: "PlannerAgent", web: "WebExecutorAgent", api: "ApiExecutorAgent", critic: "CriticAgent" },
};

export function createDesk({ executors, log, clock }: DeskDeps): Desk {
  const deps = { executors, log, ids: { clock, newId: randomUUID }, history: new Map<string, boolean[]>() };
  return {
    async deliver(given, options) {
      const job = { ...options, message: readMessage(given) };
      await log.add(forLog(job.message));
      const trail: Trail = { tried: new Set() };
      let taken: Taken | undefined;
      for (let hop = 0; !taken; hop++) taken = await passOn(job, hop, trail, deps);
      const { payload, role } = taken;
      const reply = replyTo(job.message, payload, role ? roleNames[role] : "RouterAgent", deps.ids);
      await log.add(forLog(reply));
      return reply;
    },
  };
}

type Deps = Pick<DeskDeps, "executors" | "log"> & {
  ids: { clock: Clock; newId(): string };
  history: Map<string, boolean[]>;
};
/** Where a message was before. `last`: what the executor said that could not start it. */
type Trail = { tried: Set<string>; forwarded?: Role; last?: Envelope["payload"] };
type Taken = { payload: Envelope["payload"]; role: Role | undefined };

/** Delivers a message to the best executor. Undefined when another must take it. */
async function passOn(job: Job, hop: number, trail: Trail, deps: Deps): Promise<Taken | undefined> {
  const known = await deps.executors(job.signal);
  const candidates = await Promise.all(known.map((one) => candidateOf(one, job.signal)));
  const decision = decide(job.message, candidates, { ...trail, history: deps.history, hop });
  const { role, chosen = "", reason } = decision;
  const executor = known.find(({ name }) => name === chosen);
  const store = (outcome: string) => deps.log.add(decisionOn(job.message, { ...decision, outcome }, deps));
  if (!executor) {
    await store("not delivered");
    return { role, payload: trail.last ?? blocked(reason) };
  }
  const outcome = await attempt(executor, job);
  const why = "forward" in outcome ? outcome.reason : outcome.unable;
  await store(why === undefined ? "done" : `passed on: ${why}`.slice(0, 1_000));
  if ("forward" in outcome) trail.forwarded = outcome.forward;
  else {
    deps.history.set(chosen, [...(deps.history.get(chosen) ?? []), why === undefined].slice(-remembered));
    if (why === undefined) return { role, payload: outcome.payload };
    trail.tried.add(chosen);
    trail.last = outcome.payload;
  }
  job.progress(`${chosen}: ${why}`);
  return undefined;
}

function decisionOn(message: Envelope, payload: Envelope["payload"], { ids }: Deps): Envelope {
  const { message_id: in_reply_to, sender: recipient, intent, correlation_id } = message;
  const draft = { message_type: "RoutingDecision", sender: "RouterAgent", recipient, intent, correlation_id };
  return { ...newMessage({ ...draft, payload }, ids), in_reply_to };
}

/** An executor that does not answer in time is not up. */
async function candidateOf({ name, role, health }: Executor, signal: AbortSignal): Promise<Candidate> {
  try {
    return { name, role, health: await health(atMost(signal, healthMs)) };
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    return { name, role, health: { isUp: false, load: 0, reason } };
  }
}

/** An executor that went away was unable. What is wrong with the message is thrown. */
async function attempt(executor: Executor, job: Job): Promise<Outcome> {
  try {
    return await executor.run(job);
  } catch (error) {
    const isGone = error instanceof AgentError && error.code === "SERVER_UNREACHABLE";
    if (job.signal.aborted || !(isGone || error instanceof ToolFailure)) throw error;
    return { payload: blocked(`${error.code}: ${error.message}`), unable: error.message };
  }
}

/** The reply where no one could work: with every field that the results have. */
const blocked = (reason: string) => ({
  ...{ status: "BLOCKED", results: [], artifacts: [], metrics: {} },
  errors: [{ case: "*", code: reason.split(":")[0] ?? reason, message: reason, severity: "high" }],
});

/** Personal data of a message are not stored without a grant. */
const forLog = (message: Envelope): Envelope =>
  message.constraints.grants.includes("pii:log")
    ? message
    : withoutPersonal(message, testDataIn(message.payload).pii);
