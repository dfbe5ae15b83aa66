import { randomUUID } from "node:crypto";
import { atMost } from "../clock.ts";
import { AgentError } from "../errors.ts";
import { ToolFailure } from "../mcp/calls.ts";
import type { Role } from "../messages/contents.ts";
import { type Envelope, newMessage, readMessage, replyTo } from "../messages/envelope.ts";
import type { Clock } from "../ports.ts";
import type { Executor, Job, Outcome } from "./executor.ts";
import { withoutPersonal } from "./policy.ts";
import { type Candidate, type Decision, decide } from "./router.ts";

/** Where messages are kept, by their correlation id. A message that is there already stays as it is. */
export type MessageLog = { add(message: Envelope): Promise<void> };

export type DeskDeps = {
  /** Looked up for each message: hosts come and go. */
  executors(signal: AbortSignal): Promise<readonly Executor[]>;
  log: MessageLog;
  clock: Clock;
  newId?: () => string;
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
const mostRemembered = 50;
const roleNames: Readonly<Record<Role, string>> = {
  ...{ planner: "PlannerAgent", web: "WebExecutorAgent", api: "ApiExecutorAgent", critic: "CriticAgent" },
};

export function createDesk({ executors, log, clock, newId = randomUUID }: DeskDeps): Desk {
  const deps = { executors, log, ids: { clock, newId }, history: new Map<string, boolean[]>() };
  return {
    async deliver(given, job) {
      const message = readMessage(given);
      await log.add(forLog(message));
      const { payload, by } = await new Delivery({ ...job, message }, deps).run();
      const reply = replyTo(message, payload, by ? roleNames[by] : "RouterAgent", deps.ids);
      await log.add(reply);
      return reply;
    },
  };
}

type DeliveryDeps = Pick<DeskDeps, "executors" | "log"> & {
  ids: { clock: Clock; newId(): string };
  history: Map<string, boolean[]>;
};
type Delivered = { payload: Envelope["payload"]; by: Role | undefined };

/** One message on its way to an executor that takes it. */
class Delivery {
  private readonly tried = new Set<string>();
  private forwarded: Role | undefined;
  private last: Envelope["payload"] | undefined;

  constructor(
    private readonly job: Job,
    private readonly deps: DeliveryDeps,
  ) {}

  async run(): Promise<Delivered> {
    const { job, deps, tried } = this;
    for (let hop = 0; ; hop++) {
      const known = await deps.executors(job.signal);
      const candidates = await Promise.all(known.map((one) => candidateOf(one, job.signal)));
      const facts = { history: deps.history, tried, hop, forwarded: this.forwarded };
      const decision = decide(job.message, candidates, facts);
      const executor = known.find(({ name }) => name === decision.chosen);
      const done = executor ? await this.tryOne(executor, decision) : await this.giveUp(decision);
      if (done) return done;
    }
  }

  /** Undefined when another must take it. */
  private async tryOne(executor: Executor, decision: Decision): Promise<Delivered | undefined> {
    const { job } = this;
    const outcome = await attempt(executor, job);
    const why = "forward" in outcome ? outcome.reason : outcome.unable;
    await this.store(decision, why === undefined ? "done" : `passed on: ${why}`.slice(0, 1_000));
    if ("forward" in outcome) this.forwarded = outcome.forward;
    else {
      this.last = outcome.payload;
      this.note(executor.name, why === undefined);
      if (why === undefined) return { payload: outcome.payload, by: decision.role };
    }
    job.progress(`${executor.name}: ${why}`);
    return undefined;
  }

  private async giveUp(decision: Decision): Promise<Delivered> {
    await this.store(decision, "not delivered");
    return { by: decision.role, payload: this.last ?? blocked(decision.reason) };
  }

  private note(name: string, ok: boolean): void {
    const { history } = this.deps;
    history.set(name, [...(history.get(name) ?? []), ok].slice(-mostRemembered));
    if (!ok) this.tried.add(name);
  }

  private store(decision: Decision, outcome: string): Promise<void> {
    const { message_id: in_reply_to, sender, intent, correlation_id } = this.job.message;
    const draft = {
      ...{ message_type: "RoutingDecision", sender: "RouterAgent", recipient: sender },
      ...{ intent, correlation_id, payload: { ...decision, outcome } },
    };
    return this.deps.log.add({ ...newMessage(draft, this.deps.ids), in_reply_to });
  }
}

/** An executor that does not answer in time is not up. */
async function candidateOf({ name, role, health }: Executor, signal: AbortSignal): Promise<Candidate> {
  const down = (reason: string) => ({ name, role, health: { isUp: false, load: 0, reason } });
  try {
    return { name, role, health: await health(atMost(signal, healthMs)) };
  } catch (error) {
    signal.throwIfAborted();
    return down(error instanceof Error ? error.message : String(error));
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
function forLog(message: Envelope): Envelope {
  const { test_data } = message.payload;
  const named =
    typeof test_data === "object" && test_data !== null && "pii" in test_data ? test_data.pii : [];
  if (!Array.isArray(named) || message.constraints.grants.includes("pii:log")) return message;
  return withoutPersonal(message, named.map(String));
}
