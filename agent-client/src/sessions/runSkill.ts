import type { Skill } from "@labwright/skills";
import type { z } from "zod";
import type { Agent } from "../agents/agent.ts";
import { AgentError } from "../errors.ts";
import type { SessionEnded } from "../events.ts";
import { askOutcome } from "../loop/askOutcome.ts";
import { failedBy, type RunResult } from "../loop/runAgent.ts";
import type { Prefix } from "../model/request.ts";
import { withSpent } from "../model/usage.ts";
import type { StoredSession } from "../ports.ts";
import { createApprovals } from "./approvals.ts";
import { hold } from "./hold.ts";
import { loadedEvent, specsOf } from "./prepare.ts";
import { patchOf, titleLetters } from "./run.ts";
import { type Deps, runIn, systemOf } from "./segments.ts";
import { Transcript } from "./transcript.ts";

export type SkillRun = {
  agent: Agent;
  skill: string;
  /** Made when it is not there; gone on with when it is. */
  session_id: string;
  request: string;
  outcome: { schema: z.ZodType; describe: string };
  signal: AbortSignal;
  holder: string;
};

/** `outcome` fits the schema; it is left out when the run did not come to one. */
export type SkillRunEnd = { end: SessionEnded; outcome?: unknown };

const goOn = "You were interrupted. What you had asked for may have been done: look again, then go on.";

/**
 * Runs a skill for an autonomous agent in a stored conversation, with `dry_run` by tools that read alone, and asks for its
 * finding. Throws an AgentError when there is no such skill or another client has the conversation.
 */
export const createRunSkill =
  (deps: Deps): ((given: SkillRun) => Promise<SkillRunEnd>) =>
  async (given) => {
    const { session_id: id, agent, holder } = given;
    const { server, clock } = deps;
    const { store } = server;
    const skill = (await server.skills()).find(({ name }) => name === given.skill);
    const hint = "Correct the agent's triggers.";
    if (!skill) throw new AgentError("SKILL_NOT_FOUND", `There is no skill ${given.skill}.`, hint);
    const title = given.request.slice(0, titleLetters);
    const begun = { id, agent: agent.name, owner: `agent:${agent.name}`, title };
    await store.createSession(begun);
    const lost = new AbortController();
    const held = await hold(store, { id, holder, lost: () => lost.abort() });
    const signal = AbortSignal.any([given.signal, lost.signal]);
    const transcript = new Transcript(id, holder, { store, clock });
    try {
      await transcript.refresh(held);
      return await runAndFind({ session: held.session, transcript, skill }, { ...given, signal }, deps);
    } finally {
      await held.letGo();
    }
  };

async function runAndFind(
  { session, transcript, skill }: { session: StoredSession; transcript: Transcript; skill: Skill },
  given: SkillRun,
  deps: Deps,
): Promise<SkillRunEnd> {
  const { agent, signal } = given;
  const isNew = transcript.history.length === 0;
  await transcript.add([{ role: "user", content: isNew ? given.request : goOn }]);
  transcript.emit(loadedEvent(skill, "event"));
  const all = await specsOf(skill, deps.server);
  const specs = agent.config.dry_run ? all.filter(({ readOnly }) => readOnly) : all;
  const { gate } = createApprovals(agent, deps, { session, emit: transcript.emit });
  const sent = { system: systemOf(agent, skill), specs, history: transcript.sent() };
  const run = await runIn(transcript, { agent, skill, specs, sent }, { ...deps, gate, signal });
  const { unsaved, ...found } = await findingOf({ ...sent, ...run }, given, deps);
  await transcript.end(found.end, unsaved, patchOf(session, found.end, skill.name));
  return found;
}

/** A run that was cut short has found nothing that may be written. */
async function findingOf(
  { ended, unsaved, ...talked }: RunResult & Prefix,
  { outcome, signal }: SkillRun,
  { models, settings }: Deps,
): Promise<SkillRunEnd & Pick<RunResult, "unsaved">> {
  const [endpoint] = models.current();
  if (ended.outcome !== "done" || !endpoint) return { end: ended, unsaved };
  try {
    const maxTokens = settings.max_output_tokens;
    const asked = await askOutcome({ ...talked, ...outcome, endpoint, maxTokens, signal });
    return {
      end: withSpent(ended, asked.spent),
      unsaved: [...unsaved, ...asked.messages],
      ...(asked.outcome !== undefined && { outcome: asked.outcome }),
    };
  } catch (error) {
    const end = { ...ended, ...(signal.aborted ? { outcome: "cancelled" as const } : failedBy(error)) };
    return { end, unsaved };
  }
}
