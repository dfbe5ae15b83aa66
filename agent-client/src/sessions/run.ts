import { matchSkill, wishesIn } from "@labwright/skills";
import type { Agent } from "../agents/agent.ts";
import type { SessionEnded } from "../events.ts";
import { type Message, textOf } from "../loop/history.ts";
import { failedBy, type RunResult } from "../loop/runAgent.ts";
import { toolCaller } from "../loop/tools.ts";
import { addSpent, addUsage, nothingSpent, type Spent, withSpent } from "../model/usage.ts";
import { offlineTools, requestIn, runOffline } from "../offline/index.ts";
import type { SessionPatch, StoredSession, ToolSpec } from "../ports.ts";
import { type Asked, type Prepared, prepare, type Ready, skillsFor } from "./prepare.ts";
import { type RunDeps, runIn, whatIsSent } from "./segments.ts";
import type { Transcript } from "./transcript.ts";

type Given = { agent: Agent; session: StoredSession; message: Asked; transcript: Transcript };
/** `unsaved`: messages to be stored with the end. */
type Done = Pick<RunResult, "ended" | "unsaved">;

/**
 * One message from its arrival to its end, which is sent and stored. Never rejects but when nothing can be stored; what
 * goes wrong is an end by name.
 */
export async function runMessage(given: Given, deps: RunDeps): Promise<SessionEnded> {
  const { agent, session, transcript } = given;
  const { emit } = transcript;
  const start = deps.clock.now();
  // What the choice of the skill cost is part of what the message cost.
  let routed = nothingSpent;
  let skill = session.skill;
  let done: Done;
  try {
    if (deps.models.current().length === 0) done = await withoutModel(given, deps);
    else {
      const prepared = await prepare(given.message, {
        ...deps,
        agent,
        onSpent(spent: Spent) {
          routed = addSpent(routed, spent);
        },
      });
      const last = prepared.kind === "ready" ? prepared.each.at(-1)?.skill : prepared.skill;
      skill = last === null ? null : (last?.name ?? skill);
      done = await follow(prepared, given, deps);
    }
  } catch (error) {
    done = endedBy(deps.signal.aborted ? { outcome: "cancelled" } : failedBy(error));
  }
  const total = { ...withSpent(done.ended, routed), duration_ms: Math.round(deps.clock.now() - start) };
  if (total.error) emit({ type: "error", ...total.error });
  await transcript.end(total, done.unsaved, patchOf(session, total, skill));
  return total;
}

async function follow(prepared: Prepared, given: Given, deps: RunDeps): Promise<Done> {
  const { transcript } = given;
  if (prepared.kind === "ask") return ask(prepared, transcript);
  transcript.options = [];
  let merged: Done | undefined;
  for (const [at, ready] of prepared.each.entries()) {
    if (ready.part !== undefined) await transcript.add([...(merged?.unsaved ?? []), onlyThis(ready.part)]);
    const sent = await whatIsSent(ready, given, deps);
    const done = await runIn(transcript, { ...ready, agent: given.agent, sent }, deps);
    merged = merged ? { ...done, ended: mergedEnd(merged.ended, done.ended) } : done;
    const left = prepared.each.slice(at + 1);
    if (merged.ended.outcome !== "done" && left.length > 0) return withoutRest(merged, left);
  }
  if (!merged) throw new Error("No skill was prepared.");
  return merged;
}

const onlyThis = (part: string): Message => ({
  role: "user",
  content: [{ type: "text", text: `Do now of what I asked only this: ${part}. The rest is done apart.` }],
});

/** Both as one end: what each said, and what both cost. */
const mergedEnd = (first: SessionEnded, next: SessionEnded): SessionEnded => ({
  ...withSpent(next, first),
  text: [first.text, next.text].filter(Boolean).join("\n\n"),
  turns: first.turns + next.turns,
});

/** What comes after a part that did not end as it should is not begun, and is named. */
function withoutRest({ ended, unsaved }: Done, left: readonly Ready[]): Done {
  const text = `Not begun: ${left.map(({ skill }) => skill.name).join(", ")}.`;
  return { ended: { ...ended, text: [ended.text, text].filter(Boolean).join("\n\n") }, unsaved };
}

function ask(
  { question, options, details }: { question: string; options: readonly string[]; details?: string[] },
  transcript: Transcript,
): Done {
  const text = [question, ...options.map((one, at) => `${at + 1}. ${one}`)].join("\n");
  transcript.emit({ type: "handoff", question, options: [...options], ...(details && { details }) });
  return endedBy({ outcome: "needs_input", text });
}

/** The same gate and events as a model's calls have, by words instead of a skill. It changes nothing but by a run. */
async function withoutModel({ agent, message, transcript }: Given, deps: RunDeps): Promise<Done> {
  const skills = skillsFor(message, agent, await deps.server.skills());
  const mayCall = ({ name, readOnly }: ToolSpec) =>
    offlineTools.includes(name) && (readOnly || skills.some(({ tools }) => tools.includes(name)));
  const specs = (await deps.server.toolbox.specs()).filter(mayCall);
  const call = toolCaller({
    ...deps,
    specs,
    call: deps.server.toolbox.call,
    emit: transcript.emit,
    now: () => performance.now(),
  });
  transcript.options = [];
  const request = requestIn(transcript.history.map((one) => ({ role: one.role, text: textOf(one) })));
  const wishes = wishesIn(request, skills).map(({ text }) => text);
  const parts = wishes.length > 0 ? wishes : [request];
  const said: string[] = [];
  let count = 0;
  for (const [at, part] of parts.entries()) {
    const match = matchSkill(part, skills);
    const likely = match.kind === "match" ? [match.skill] : match.candidates.slice(0, 4);
    const { needs, text, outcome } = await runOffline({
      text: part,
      candidates: likely.map(({ name }) => name),
      now: new Date(deps.clock.now()),
      timeoutMs: agent.config.timeout_seconds * 1_000,
      async call(use) {
        const result = await call(use, `offline-${++count}`);
        deps.signal.throwIfAborted();
        return result;
      },
    });
    deps.signal.throwIfAborted();
    const left = parts.slice(at + 1);
    if (needs) {
      // An option is a whole request, so the answer is followed by the rest of this one.
      const options = needs.options.map((option) => [option, ...left].join(", and then "));
      const { ended, unsaved } = ask({ ...needs, options }, transcript);
      return {
        ended,
        unsaved: [...said.map((content): Message => ({ role: "assistant", content })), ...unsaved],
      };
    }
    transcript.emit({ type: "message", text });
    said.push(text);
    if (outcome === "done" && left.length > 0) continue;
    if (left.length > 0) said.push(`Not begun: ${left.join(", ")}.`);
    return endedBy({ outcome, ...(outcome === "limit" && { limit: "time" }), text: said.join("\n\n") });
  }
  throw new Error("A request has no part.");
}

/** The end of a message that no model has answered. */
const endedBy = (end: Pick<SessionEnded, "outcome"> & Partial<SessionEnded>): Done => ({
  ended: { ...{ type: "session_ended", text: "", turns: 0, duration_ms: 0 }, ...nothingSpent, ...end },
  unsaved: end.text ? [{ role: "assistant", content: end.text }] : [],
});

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
