import type { OpenApprovals } from "@labwright/agent-client";
import { type Context, Hono } from "hono";
import { z } from "zod";
import { errorsOf, readInput } from "../api/errors.ts";
import type { Question } from "../domain/index.ts";
import { ToolError } from "../errors.ts";
import type { Services } from "../services/index.ts";
import { type AgentStore, type AgentTask, ownOwner, taskAgent } from "./store.ts";
import type { TaskProgress } from "./tasks.ts";

export type WorkDeps = {
  store: Pick<AgentStore, "findSession" | "events" | "messages" | "tasks" | "findTask" | "cancelTask"> & {
    sessions(filter: { owner: string; limit: number }): Promise<object[]>;
  };
  /** Those of this process. */
  approvals(): OpenApprovals;
  progressOf(key: string): TaskProgress | undefined;
  investigations: Pick<Services["investigations"], "waiting">;
  fault(error: unknown, trace_id: string): void;
};

const decisionSchema = z.strictObject({ answer: z.enum(["approve", "refuse"]) });
const count = z.coerce.number().int().min(0);
const pageQuery = z.strictObject({ limit: count.min(1).max(200).default(50) });
const rangeQuery = z.strictObject({ events: count.default(0), messages: count.default(0) });
const mostShown = 4_000;
const pageSize = 500;

/**
 * What agents do and ask, for people, to be mounted at `/api/v1/agent` behind the server's own checks. It shows what the owner of the
 * daemon's token started and what autonomous agents do; conversations and tasks of others are not there.
 */
export function createWorkApi(deps: WorkDeps): Hono {
  const api = new Hono();
  api.get("/questions", async (c) => c.json({ questions: await questions(deps) }));
  api.post("/questions/:id", async (c) => c.json({ answer: await answer(c, deps) }));
  api.get("/tasks", async (c) => {
    const found = await deps.store.tasks(readInput(pageQuery, c.req.query(), "Give a limit of 1 to 200."));
    return c.json({ tasks: found.filter(isShown).map(lineOf) });
  });
  api.get("/tasks/:agent/:key", async (c) => {
    const task = await taskOf(c, deps);
    return c.json({ ...lineOf(task), result: task.finding, ...deps.progressOf(task.key) });
  });
  api.delete("/tasks/:agent/:key", async (c) => {
    const { id } = await taskOf(c, deps);
    return c.json({ cancelled: await deps.store.cancelTask(id, "CANCELLED: A person stopped it.") });
  });
  api.get("/conversations", async (c) => {
    const { limit } = readInput(pageQuery, c.req.query(), "Give a limit of 1 to 200.");
    return c.json({ conversations: await deps.store.sessions({ owner: ownOwner, limit }) });
  });
  api.get("/conversations/:id", async (c) => c.json(await conversation(c, deps)));
  return errorsOf(api, deps.fault);
}

const isOwn = (owner: string) => owner === ownOwner || owner.startsWith("agent:");

async function questions({ approvals, investigations }: WorkDeps): Promise<Question[]> {
  const asked = [...approvals().values()].flatMap(({ session, required }): Question[] => {
    const { approval_id: id, tool, input, reason, expires_at } = required;
    const options = [
      { name: "approve", title: "Approve" },
      { name: "refuse", title: "Refuse" },
    ];
    const question = { id, from: session.agent, text: `${tool}: ${reason}`, options, expires_at };
    const details = [JSON.stringify(input, undefined, 1).slice(0, mostShown)];
    return isOwn(session.owner) ? [{ ...question, kind: "approval", details, session_id: session.id }] : [];
  });
  const handoffs = (await investigations.waiting(50)).flatMap(
    ({ investigation_id, handoff, skill_used = "" }) => {
      if (!handoff || investigation_id === undefined) return [];
      const { id, question: text, findings: details, options } = handoff;
      return [{ id, kind: "handoff" as const, from: skill_used, text, details, options, investigation_id }];
    },
  );
  return [...asked, ...handoffs];
}

/** Decides an approval. Throws HANDOFF_ANSWERED for one that is not open. */
async function answer(c: Context, { approvals }: WorkDeps): Promise<string> {
  const given = await c.req.json().catch(() => undefined);
  const decision = readInput(
    decisionSchema,
    given,
    'Send {"answer": "approve"} or {"answer": "refuse"}.',
  ).answer;
  const found = approvals().get(c.req.param("id") ?? "");
  if (found === undefined || !isOwn(found.session.owner))
    throw new ToolError(
      "HANDOFF_ANSWERED",
      "This question is not open: it was answered, its time was over, or its run has ended.",
      "See the conversation for what became of it.",
    );
  found.decide(decision === "approve");
  return decision;
}

const askedSchema = z.object({ owner: z.string(), order: z.object({ task: z.string() }) });
const eventSchema = z.object({ type: z.string(), device_id: z.string().optional() });

const isShown = ({ agent, event }: AgentTask) =>
  agent !== taskAgent || askedSchema.safeParse(event).data?.owner === ownOwner;

/** Without its finding, which may be large. */
function lineOf({ finding: _, event, ...task }: AgentTask) {
  const { type = "", device_id = "" } = eventSchema.safeParse(event).data ?? {};
  return { ...task, title: askedSchema.safeParse(event).data?.order.task ?? `${type} ${device_id}`.trim() };
}

async function taskOf(c: Context, { store }: WorkDeps): Promise<AgentTask> {
  const task = await store.findTask(c.req.param("agent") ?? "", c.req.param("key") ?? "");
  if (task && isShown(task)) return task;
  throw new ToolError("EXECUTION_NOT_FOUND", "There is no such task.", "GET /api/v1/agent/tasks lists them.");
}

/** What was said and what happened behind the events and messages that the reader has. */
async function conversation(c: Context, { store }: WorkDeps) {
  const id = c.req.param("id") ?? "";
  const after = readInput(rangeQuery, c.req.query(), "`events` and `messages` are the last that you have.");
  const session = await store.findSession(id);
  if (!session || !isOwn(session.owner))
    throw new ToolError("SESSION_NOT_FOUND", `There is no conversation "${id}".`, "List the conversations.");
  // A run's message is stored before its events, so it is read after them.
  const events = await store.events(id, { after: after.events, limit: pageSize });
  const messages = await store.messages(id, { after: after.messages, limit: pageSize });
  // An autonomous agent is given its event first, and asked for its finding after that.
  const asked = session.owner === ownOwner ? messages : messages.filter(({ seq }) => seq === 1);
  return {
    session,
    events,
    said: asked.flatMap(saidIn),
    messages: messages.at(-1)?.seq ?? after.messages,
  };
}

const saidSchema = z.object({ role: z.literal("user"), content: z.string() });

/** Only what a person said is a plain text. */
const saidIn = ({ message }: { message: unknown }) => saidSchema.safeParse(message).data?.content ?? [];
