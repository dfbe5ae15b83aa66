import type { Agent } from "../agents/agent.ts";
import { AgentError } from "../errors.ts";
import type { SessionEnded, Usage } from "../events.ts";
import { textOf } from "../loop/history.ts";
import { runAgent } from "../loop/runAgent.ts";
import type { Gate } from "../loop/tools.ts";
import { runnableTools } from "../loop/tools.ts";
import type { ModelEndpoint, ModelSource } from "../model/models.ts";
import { addPaid, addUsage, costOf, noUsage } from "../model/usage.ts";
import { type OfflineAnswer, offlineTools, requestIn, runOffline } from "../offline/index.ts";
import type { Clock, LabServer, SessionPatch, StoredSession, ToolCall, ToolResult } from "../ports.ts";
import type { Settings } from "../settings.ts";
import { limitsOf } from "./limits.ts";
import { type Asked, type Prepared, prepare } from "./prepare.ts";
import { restartIn, whatIsSent } from "./segments.ts";
import type { Transcript } from "./transcript.ts";

export type RunDeps = {
  server: LabServer;
  models: ModelSource;
  settings: Settings;
  clock: Clock;
  gate: Gate;
  signal: AbortSignal;
};

/**
 * One message from its arrival to its end, which is told and stored. Never rejects but when nothing can be stored; what
 * goes wrong is an end by name.
 */
export async function runMessage(
  given: { agent: Agent; session: StoredSession; message: Asked; transcript: Transcript },
  deps: RunDeps,
): Promise<SessionEnded> {
  const { agent, session, transcript } = given;
  const { tell } = transcript;
  const start = deps.clock.now();
  const routed: Routing = { usage: noUsage, paid: { cost_usd: 0, saved_usd: 0 } };
  let skill = session.skill;
  let ended: SessionEnded;
  try {
    const prepared = await prepare(given.message, {
      ...deps,
      agent,
      onRouted: (usage, by) => addRouting(routed, usage, by),
    });
    if (prepared.kind === "ready") skill = prepared.skill.name;
    else if (prepared.skill) skill = prepared.skill.name;
    ended = await follow(prepared, given, deps);
  } catch (error) {
    ended = { ...nothingDone, ...(deps.signal.aborted ? { outcome: "cancelled" } : failedBy(error)) };
  }
  const total = withRouting(ended, routed, deps.clock.now() - start);
  if (total.error) tell({ type: "error", ...total.error });
  tell(total);
  await transcript.flush(patchOf(session, total, skill));
  return total;
}

async function follow(
  prepared: Prepared,
  given: { agent: Agent; message: Asked; transcript: Transcript },
  deps: RunDeps,
): Promise<SessionEnded> {
  const { transcript } = given;
  if (prepared.kind === "ask") return ask(prepared, transcript);
  transcript.answered();
  const models = deps.models.current();
  if (models.length === 0) {
    transcript.tell(prepared.loaded);
    return withoutModel(prepared, given, deps);
  }
  const sent = await whatIsSent(prepared, given, deps);
  const { ended } = await runAgent({
    models,
    ...sent,
    call: deps.server.toolbox.call,
    gate: deps.gate,
    limits: limitsOf(given.agent, prepared.skill, deps.settings),
    signal: deps.signal,
    emit: transcript.tell,
    save: async (messages) => void (await transcript.add(messages)),
    restart: restartIn(transcript, given.agent, prepared),
    now: () => performance.now(),
  });
  return ended;
}

async function ask(
  given: { question: string; options: readonly string[]; details?: string[] },
  transcript: Transcript,
): Promise<SessionEnded> {
  const { question, options, details } = given;
  const text =
    options.length > 0
      ? `${question}\n${options.map((one, at) => `${at + 1}. ${one}`).join("\n")}`
      : question;
  transcript.tell({ type: "handoff", question, options: [...options], ...(details && { details }) });
  await transcript.add([{ role: "assistant", content: text }]);
  return { ...nothingDone, outcome: "needs_input", text };
}

/** The same tools, gate and events as a model's calls have, under a deterministic plan. */
async function withoutModel(
  { skill, specs }: Extract<Prepared, { kind: "ready" }>,
  { transcript }: { transcript: Transcript },
  deps: RunDeps,
): Promise<SessionEnded> {
  const all = await deps.server.toolbox.specs();
  const callable = all.filter(({ name }) => skill.tools.includes(name) || offlineTools.includes(name));
  const call = toldCalls(callable, transcript, deps);
  const asked = requestIn(transcript.history.map((one) => ({ role: one.role, text: textOf(one) })));
  const answer: OfflineAnswer = await runOffline({ ...asked, skill, specs, call });
  deps.signal.throwIfAborted();
  if (answer.needs) return ask(answer.needs, transcript);
  transcript.tell({ type: "message", text: answer.text });
  await transcript.add([{ role: "assistant", content: answer.text }]);
  return { ...nothingDone, outcome: "done", text: answer.text };
}

function toldCalls(
  specs: Extract<Prepared, { kind: "ready" }>["specs"],
  transcript: Transcript,
  deps: RunDeps,
): (use: ToolCall) => Promise<ToolResult> {
  let count = 0;
  return async ({ name, input }) => {
    let result: ToolResult | undefined;
    const tools = runnableTools({
      ...deps,
      specs,
      emit: transcript.tell,
      now: () => performance.now(),
      async call(use, options) {
        result = await deps.server.toolbox.call(use, options);
        return result;
      },
    });
    const tool = tools.find((one) => one.name === name);
    if (!tool)
      throw new AgentError("INTERNAL", `The plan calls ${name}, which its skill has not.`, "Report it.");
    count += 1;
    const toolUse = { type: "tool_use" as const, id: `offline-${count}`, name, input };
    const refusal = await Promise.resolve(tool.run({ ...input }, { toolUse, toolUseBlock: toolUse })).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    deps.signal.throwIfAborted();
    return result ?? { parts: [{ type: "text", text: refusal ?? "" }], isError: true };
  };
}

const nothingDone: SessionEnded = {
  type: "session_ended",
  outcome: "failed",
  text: "",
  turns: 0,
  duration_ms: 0,
  usage: noUsage,
  cost_usd: 0,
  saved_usd: 0,
};

function failedBy(error: unknown): Pick<SessionEnded, "outcome" | "error"> {
  if (error instanceof AgentError) {
    const { code, message, hint } = error;
    return { outcome: "failed", error: { code, message, hint } };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { outcome: "failed", error: { code: "INTERNAL", message, hint: "`labwright logs` may say more." } };
}

type Routing = { usage: Usage; paid: { cost_usd: number; saved_usd: number } | undefined };

function addRouting(routed: Routing, usage: Usage, { facts: { price } }: ModelEndpoint): void {
  routed.usage = addUsage(routed.usage, usage);
  routed.paid = addPaid(routed.paid, price && costOf(usage, price));
}

/** What the choice of the skill cost is part of what the message cost. */
function withRouting(ended: SessionEnded, routed: Routing, durationMs: number): SessionEnded {
  const { cost_usd, saved_usd = 0, ...rest } = ended;
  return {
    ...rest,
    duration_ms: Math.round(durationMs),
    usage: addUsage(ended.usage, routed.usage),
    ...addPaid(cost_usd === undefined ? undefined : { cost_usd, saved_usd }, routed.paid),
  };
}

const patchOf = (session: StoredSession, ended: SessionEnded, skill: string | null): SessionPatch => ({
  skill,
  usage: addUsage(session.usage, ended.usage),
  cost_usd: session.cost_usd + (ended.cost_usd ?? 0),
  saved_usd: session.saved_usd + (ended.saved_usd ?? 0),
  turns: session.turns + ended.turns,
  outcome: ended.outcome,
});
