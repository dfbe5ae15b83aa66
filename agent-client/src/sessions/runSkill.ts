import type { Skill } from "@labwright/skills";
import type { z } from "zod";
import type { Agent } from "../agents/agent.ts";
import { AgentError } from "../errors.ts";
import type { SessionEnded } from "../events.ts";
import { askOutcome } from "../loop/askOutcome.ts";
import { runAgent } from "../loop/runAgent.ts";
import type { Gate } from "../loop/tools.ts";
import type { ModelSource } from "../model/models.ts";
import { addPaid, addUsage } from "../model/usage.ts";
import type { Clock, LabServer, ToolSpec } from "../ports.ts";
import type { Settings } from "../settings.ts";
import { createApprovals } from "./approvals.ts";
import { holdMs, renewMs } from "./engine.ts";
import { limitsOf } from "./limits.ts";
import { loadedEvent, specsOf } from "./prepare.ts";
import { restartIn, systemOf } from "./segments.ts";
import { Transcript } from "./transcript.ts";

export type SkillRun = {
  agent: Agent;
  skill: string;
  /** Made when it is not there; gone on with when it is. */
  session_id: string;
  request: string;
  outcome: { schema: z.ZodType; describe: string };
  signal: AbortSignal;
  /** Only tools that read. */
  dryRun: boolean;
  holder: string;
};

/** `outcome` fits the schema; it is left out when the run did not come to one. */
export type SkillRunEnd = { end: SessionEnded; outcome?: unknown };

const goOn = "You were interrupted. What you had asked for may have been done: look again, then go on.";

/**
 * Runs a skill for an autonomous agent in a stored conversation and asks for its finding. Throws an AgentError when there
 * is no such skill or somebody else has the conversation; NO_API_KEY without a model.
 */
export function createRunSkill(deps: {
  server: LabServer;
  models: ModelSource;
  settings: Settings;
  clock: Clock;
}): (given: SkillRun) => Promise<SkillRunEnd> {
  const { server, clock } = deps;
  return async (given) => {
    const { session_id: id, agent, holder } = given;
    const skill = (await server.skills()).find(({ name }) => name === given.skill);
    if (!skill)
      throw new AgentError(
        "SKILL_NOT_FOUND",
        `There is no skill ${given.skill}.`,
        "Mend the agent's triggers.",
      );
    if (!(await server.store.findSession(id)))
      await server.store.createSession({
        id,
        agent: agent.name,
        owner: `agent:${agent.name}`,
        title: given.request.slice(0, 80),
      });
    if (!(await server.store.hold(id, holder, holdMs)))
      throw new AgentError(
        "SESSION_BUSY",
        `Another process has the conversation ${id}.`,
        "It is finished there.",
      );
    const renewing = setInterval(() => void server.store.hold(id, holder, holdMs).catch(() => {}), renewMs);
    try {
      const transcript = new Transcript(id, holder, { store: server.store, clock });
      return await runIn(transcript, skill, given, deps);
    } finally {
      clearInterval(renewing);
      await server.store.letGo(id, holder).catch(() => {});
    }
  };
}

async function runIn(
  transcript: Transcript,
  skill: Skill,
  given: SkillRun,
  deps: { server: LabServer; models: ModelSource; settings: Settings; clock: Clock },
): Promise<SkillRunEnd> {
  const { agent, signal } = given;
  await transcript.refresh();
  const isNew = transcript.history.length === 0;
  await transcript.add([{ role: "user", content: isNew ? given.request : goOn }]);
  transcript.tell(loadedEvent(skill, "event"));
  const all = await specsOf(skill, deps.server);
  const specs = given.dryRun ? all.filter(({ readOnly }) => readOnly) : all;
  const limits = limitsOf(agent, skill, deps.settings);
  const system = systemOf(agent, skill);
  const { ended, history } = await runAgent({
    models: deps.models.current(),
    system,
    specs,
    call: deps.server.toolbox.call,
    gate: gateOf(agent, transcript, deps),
    history: transcript.sent(),
    limits,
    signal,
    emit: transcript.tell,
    save: async (messages) => void (await transcript.add(messages)),
    restart: restartIn(transcript, agent, { skill, specs }),
    now: () => performance.now(),
  });
  const found = await findingOf({ ended, system, specs, history }, given, { transcript, deps });
  transcript.tell(found.end);
  const { usage, cost_usd = 0, saved_usd = 0, turns, outcome } = found.end;
  await transcript.flush({ skill: skill.name, usage, cost_usd, saved_usd, turns, outcome });
  return found;
}

function gateOf(
  agent: Agent,
  { tell }: Transcript,
  { settings, clock }: { settings: Settings; clock: Clock },
): Gate {
  const timeoutMs = settings.approval_timeout_seconds * 1_000;
  return createApprovals({ asked: agent.approvals, timeoutMs, clock, emit: tell }).gate;
}

type Done = {
  ended: SessionEnded;
  system: string;
  specs: readonly ToolSpec[];
  history: Awaited<ReturnType<typeof runAgent>>["history"];
};

/** A run that was cut short has found nothing that may be written. */
async function findingOf(
  { ended, system, specs, history }: Done,
  { outcome: { schema, describe }, signal }: SkillRun,
  { transcript, deps }: { transcript: Transcript; deps: { models: ModelSource; settings: Settings } },
): Promise<SkillRunEnd> {
  const [endpoint] = deps.models.current();
  if (ended.outcome !== "done" || !endpoint) return { end: ended };
  try {
    const maxTokens = deps.settings.max_output_tokens;
    const asked = await askOutcome({ endpoint, system, specs, history, schema, describe, maxTokens, signal });
    await transcript.add(asked.messages);
    const { cost_usd, saved_usd = 0, ...rest } = ended;
    const before = cost_usd === undefined ? undefined : { cost_usd, saved_usd };
    const paid = addPaid(before, asked.paid);
    const end = { ...rest, usage: addUsage(ended.usage, asked.usage), ...paid };
    return { end, ...(asked.outcome !== undefined && { outcome: asked.outcome }) };
  } catch (error) {
    if (signal.aborted) return { end: { ...ended, outcome: "cancelled" } };
    const { code, message, hint } =
      error instanceof AgentError ? error : new AgentError("INTERNAL", String(error), "Read the log.");
    return { end: { ...ended, outcome: "failed", error: { code, message, hint } } };
  }
}
