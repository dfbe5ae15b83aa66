import { createHash } from "node:crypto";
import type { Skill } from "@labwright/skills";
import type { Agent } from "../agents/agent.ts";
import { AgentError } from "../errors.ts";
import type { SessionEnded, Usage } from "../events.ts";
import { type Message, textOf } from "../loop/history.ts";
import { runAgent } from "../loop/runAgent.ts";
import type { Gate } from "../loop/tools.ts";
import { runnableTools } from "../loop/tools.ts";
import type { ModelEndpoint, ModelSource } from "../model/models.ts";
import { addPaid, addUsage, costOf, noUsage } from "../model/usage.ts";
import { offlineTools, requestIn, runOffline } from "../offline/index.ts";
import type {
  Clock,
  LabServer,
  SessionPatch,
  StoredSession,
  ToolCall,
  ToolResult,
  ToolSpec,
} from "../ports.ts";
import type { Settings } from "../settings.ts";
import { limitsOf } from "./limits.ts";
import { type Asked, type Prepared, prepare, skillsFor, specsOf } from "./prepare.ts";
import type { Transcript } from "./transcript.ts";

export type RunDeps = {
  server: LabServer;
  models: ModelSource;
  settings: Settings;
  clock: Clock;
  gate: Gate;
  signal: AbortSignal;
};

/** What a skill's model is told: who it is, then what to do. */
export const systemOf = (agent: Agent, skill: Skill): string =>
  `${agent.system_prompt}\n\n${skill.system_prompt}`;

/** What a segment's system and tools are known by. */
function prefixOf(system: string, specs: readonly ToolSpec[]): string {
  const sent = specs.map(({ name, description, input_schema }) => [name, description, input_schema]);
  return createHash("sha256")
    .update(JSON.stringify([system, sent]))
    .digest("base64url")
    .slice(0, 16);
}

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
    if (deps.models.current().length === 0) ended = await withoutModel(given, deps);
    else {
      const prepared = await prepare(given.message, {
        ...deps,
        agent,
        onRouted: (usage, by) => addRouting(routed, usage, by),
      });
      if (prepared.skill) skill = prepared.skill.name;
      ended = await follow(prepared, given, deps);
    }
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
  const sent = await whatIsSent(prepared, given, deps);
  const { ended } = await runAgent({
    models: deps.models.current(),
    ...sent,
    call: deps.server.toolbox.call,
    gate: deps.gate,
    limits: limitsOf(given.agent, prepared.skill, deps.settings),
    signal: deps.signal,
    emit: transcript.tell,
    save: async (messages) => void (await transcript.add(messages)),
    now: () => performance.now(),
  });
  return ended;
}

type Sent = { system: string; specs: readonly ToolSpec[]; inline?: readonly ToolSpec[]; history: Message[] };

/**
 * The segment of the conversation that goes on, with this skill's tools added to it where it began with others; or a new
 * one that begins with this skill, whose model is given what was said before without the thinking. A segment's system and
 * tools never change, since its thinking is bound to them.
 */
async function whatIsSent(
  { skill, specs, loaded }: Extract<Prepared, { kind: "ready" }>,
  { agent, transcript }: { agent: Agent; transcript: Transcript },
  { server, models }: RunDeps,
): Promise<Sent> {
  const { segment } = transcript;
  const base = (await server.skills()).find(({ name }) => name === segment?.skill) ?? skill;
  const begun = base === skill ? specs : await specsOf(base, server);
  const system = systemOf(agent, base);
  const isWhole = segment !== undefined && segment.prefix === prefixOf(system, begun);
  const isChanged = base.name !== skill.name || transcript.ownHistory.some(({ role }) => role === "system");
  const mayAdd = models.current().every(({ facts }) => facts.inline_tools);
  if (!isWhole || (isChanged && !mayAdd)) {
    const own = systemOf(agent, skill);
    transcript.tell({ ...loaded, segment: { after: transcript.beforeLast, prefix: prefixOf(own, specs) } });
    return { system: own, specs, history: transcript.sent() };
  }
  transcript.tell(loaded);
  if (!isChanged) return { system, specs, history: transcript.sent() };
  if (loaded.chosen_by !== "kept") {
    const content = `Do this by the skill ${skill.name}, in place of the one before:\n${skill.system_prompt}`;
    await transcript.add([{ role: "user", content }]);
  }
  return { system, specs: begun, inline: specs, history: transcript.sent() };
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

/** The same gate and events as a model's calls have, by words instead of a skill. It changes nothing but by a run. */
async function withoutModel(
  { agent, message, transcript }: { agent: Agent; message: Asked; transcript: Transcript },
  deps: RunDeps,
): Promise<SessionEnded> {
  const skills = skillsFor(message, agent, await deps.server.skills());
  const mayCall = ({ name, readOnly }: ToolSpec) =>
    offlineTools.includes(name) && (readOnly || skills.some(({ tools }) => tools.includes(name)));
  const specs = (await deps.server.toolbox.specs()).filter(mayCall);
  transcript.answered();
  const { needs, text, outcome } = await runOffline({
    ...requestIn(transcript.history.map((one) => ({ role: one.role, text: textOf(one) }))),
    ...{ specs, call: toldCalls(specs, transcript, deps), now: new Date(deps.clock.now()) },
    timeoutMs: agent.config.timeout_seconds * 1_000,
  });
  deps.signal.throwIfAborted();
  if (needs) return ask(needs, transcript);
  transcript.tell({ type: "message", text });
  await transcript.add([{ role: "assistant", content: text }]);
  return { ...nothingDone, outcome, ...(outcome === "limit" && { limit: "time" }), text };
}

function toldCalls(
  specs: readonly ToolSpec[],
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
      throw new AgentError(
        "INTERNAL",
        `${name} is not among the tools of the agent's skills.`,
        "Add a skill that has it.",
      );
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
