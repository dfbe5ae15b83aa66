import type { Agent } from "../agents/agent.ts";
import type { SessionEnded } from "../events.ts";
import { textOf } from "../loop/history.ts";
import { failedBy } from "../loop/runAgent.ts";
import { toolCaller } from "../loop/tools.ts";
import { addSpent, addUsage, nothingSpent, type Spent, withSpent } from "../model/usage.ts";
import { type OfflineAnswer, offlineTools, requestIn, runOffline } from "../offline/index.ts";
import type { SessionPatch, StoredSession } from "../ports.ts";
import { type Asked, type Prepared, prepare } from "./prepare.ts";
import { type RunDeps, runIn, whatIsSent } from "./segments.ts";
import type { Transcript } from "./transcript.ts";

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
  // What the choice of the skill cost is part of what the message cost.
  let routed = nothingSpent;
  let skill = session.skill;
  let ended: SessionEnded;
  try {
    const prepared = await prepare(given.message, {
      ...deps,
      agent,
      onSpent(spent: Spent) {
        routed = addSpent(routed, spent);
      },
    });
    skill = prepared.skill?.name ?? skill;
    ended = await follow(prepared, given, deps);
  } catch (error) {
    ended = { ...nothingDone, ...(deps.signal.aborted ? { outcome: "cancelled" } : failedBy(error)) };
  }
  const total = { ...withSpent(ended, routed), duration_ms: Math.round(deps.clock.now() - start) };
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
  transcript.options = [];
  if (deps.models.current().length === 0) {
    transcript.tell(prepared.loaded);
    return withoutModel(prepared, given, deps);
  }
  const sent = await whatIsSent(prepared, given, deps);
  return (await runIn(transcript, { ...prepared, agent: given.agent, sent }, deps)).ended;
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
  const call = toolCaller({
    ...deps,
    specs: callable,
    call: deps.server.toolbox.call,
    emit: transcript.tell,
    now: () => performance.now(),
  });
  const asked = requestIn(transcript.history.map((one) => ({ role: one.role, text: textOf(one) })));
  let count = 0;
  const answer: OfflineAnswer = await runOffline({
    ...asked,
    skill,
    specs,
    async call(use) {
      const result = await call(use, `offline-${++count}`);
      deps.signal.throwIfAborted();
      return result;
    },
  });
  deps.signal.throwIfAborted();
  if (answer.needs) return ask(answer.needs, transcript);
  transcript.tell({ type: "message", text: answer.text });
  await transcript.add([{ role: "assistant", content: answer.text }]);
  return { ...nothingDone, outcome: "done", text: answer.text };
}

const nothingDone: SessionEnded = {
  type: "session_ended",
  outcome: "failed",
  text: "",
  turns: 0,
  duration_ms: 0,
  ...nothingSpent,
};

/** Letters of a conversation's title: the beginning of what was asked. */
export const titleLetters = 80;

/** What a run changes of its session. */
export const patchOf = (session: StoredSession, ended: SessionEnded, skill: string | null): SessionPatch => ({
  skill,
  usage: addUsage(session.usage, ended.usage),
  cost_usd: session.cost_usd + (ended.cost_usd ?? 0),
  saved_usd: session.saved_usd + (ended.saved_usd ?? 0),
  turns: session.turns + ended.turns,
  outcome: ended.outcome,
});
