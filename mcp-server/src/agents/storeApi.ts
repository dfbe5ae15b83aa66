import type { Policy } from "@labwright/agent-client";
import { settingsSchema } from "@labwright/agent-client/settings";
import { type Context, Hono } from "hono";
import { z } from "zod";
import { errorsOf } from "../api/errors.ts";
import type { AgentSettings } from "../config/agents.ts";
import { ToolError } from "../errors.ts";
import type { AgentSkill } from "../services/index.ts";
import { agentTaskStates } from "../storage/index.ts";
import { type AgentStore, ownOwner } from "./store.ts";

const nameSchema = z.string().regex(/^\P{Cc}{1,100}$/u, "must be 1 to 100 characters, no control characters");
/** A part of a path, so without what a path means something by. */
const sessionId = z.string().regex(/^[\w:-]{1,100}$/, "must be 1 to 100 of A-Z a-z 0-9 _ : -");
const holdSchema = z.strictObject({ holder: nameSchema, ttl_ms: z.int().min(1).max(86_400_000) });
const textSchema = z.string().max(20_000);
const jsonObject = z.record(z.string(), z.unknown());
const seqSchema = z.int().min(1).max(2_147_483_647);
const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const rowLimit = z.coerce.number().int().min(1).max(1_000).default(100);

const newSession = z.strictObject({ id: sessionId, agent: nameSchema, owner: nameSchema, title: textSchema });
const usageSchema = z.strictObject({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
});
const patchSchema = z
  .strictObject({
    title: textSchema,
    skill: nameSchema.nullable(),
    usage: usageSchema,
    cost_usd: z.number().min(0),
    saved_usd: z.number(),
    turns: z.int().min(0).max(2_147_483_647),
    outcome: nameSchema.nullable(),
  })
  .partial();
const eventSchema = z.looseObject({
  type: nameSchema,
  session_id: sessionId,
  seq: seqSchema,
  at: z.iso.datetime(),
});
const messageSchema = z.strictObject({
  seq: seqSchema,
  message: z.looseObject({
    role: z.string().min(1).max(20),
    content: z.union([z.string(), z.array(jsonObject)]).optional(),
  }),
});
const appendSchema = z.strictObject({
  holder: nameSchema,
  messages: z.array(messageSchema).max(1_000).default([]),
  events: z.array(eventSchema).max(1_000).default([]),
  patch: patchSchema.default({}),
  lets_go: z.boolean().default(false),
});
const rangeQuery = z.strictObject({ after: z.coerce.number().int().min(0).default(0), limit: rowLimit });
const listQuery = z.strictObject({ owner: nameSchema.optional(), limit: rowLimit });
const taskQuery = z.strictObject({
  agent: nameSchema.optional(),
  state: z.enum(agentTaskStates).optional(),
  limit: rowLimit,
});

const isoText = z.iso.datetime({ offset: true });
const roleMessage = z.looseObject({ message_id: z.uuid(), correlation_id: z.uuid(), timestamp: isoText });
const judgedSchema = z.strictObject({
  environment: z.string().max(200).optional(),
  writes: z.array(z.looseObject({ method: z.string().max(20), url: z.string().max(4_000) })).max(5_000),
  personal: z
    .strictObject({ names: z.array(z.string().max(200)).max(5_000), to: z.string().max(200) })
    .optional(),
});

export type AgentFacts = {
  settings: AgentSettings;
  /** What a run may do to production and with personal data; why not, where it may not. */
  policy: Policy;
  skills(): readonly AgentSkill[];
};

/**
 * What a client of the agents keeps in this server's database, and what it must know, to be mounted at
 * `/server/agent/store` behind the server's own checks. JSON in and out.
 */
export function createAgentStoreApi(
  store: AgentStore,
  facts: AgentFacts,
  fault: (error: unknown, trace_id: string) => void,
): Hono {
  const api = new Hono();
  // Who may come in, and by what, and where remotes are, is the server's own.
  const agents = settingsSchema.strip().parse(facts.settings);
  api.get("/settings", (c) => c.json({ agents }));
  api.get("/skills", (c) => c.json({ skills: facts.skills() }));
  addSessions(api, store);
  api.post("/role-messages", async (c) => {
    await store.addMessage(ownOwner, await body(c, roleMessage));
    return c.json({});
  });
  api.post("/policy", async (c) =>
    c.json({ denial: (await facts.policy.judge(await body(c, judgedSchema))) ?? null }),
  );
  api.get("/tasks", async (c) => c.json({ tasks: await store.tasks(query(c, taskQuery)) }));
  return errorsOf(api, fault);
}

function addSessions(api: Hono, store: AgentStore): void {
  api.post("/sessions", async (c) =>
    c.json({ session: await store.createSession(await body(c, newSession)) }),
  );
  api.get("/sessions", async (c) => c.json({ sessions: await store.sessions(query(c, listQuery)) }));
  api.get("/sessions/:id", async (c) => c.json({ session: (await store.findSession(idOf(c))) ?? null }));
  api.delete("/sessions/:id", async (c) => c.json({ deleted: await store.deleteSession(idOf(c)) }));
  api.put("/sessions/:id/hold", async (c) => {
    const { holder, ttl_ms } = await body(c, holdSchema);
    return c.json({ held: (await store.hold(idOf(c), holder, ttl_ms)) ?? null });
  });
  api.delete("/sessions/:id/hold", async (c) => {
    await store.letGo(idOf(c), query(c, z.strictObject({ holder: nameSchema })).holder);
    return c.json({});
  });
  api.post("/sessions/:id/entries", async (c) => {
    const id = idOf(c);
    const { holder, ...given } = await body(c, appendSchema);
    const foreign = given.events.find(({ session_id }) => session_id !== id);
    if (foreign) throw invalid(`event ${foreign.seq} is of the conversation "${foreign.session_id}"`);
    await store.append(id, holder, given);
    return c.json({});
  });
  api.get("/sessions/:id/messages", async (c) =>
    c.json({ messages: await store.messages(idOf(c), query(c, rangeQuery)) }),
  );
  api.get("/sessions/:id/events", async (c) =>
    c.json({ events: await store.events(idOf(c), query(c, rangeQuery)) }),
  );
}

const idOf = (c: Context) => parsed(sessionId, c.req.param("id"));
const query = <T>(c: Context, schema: z.ZodType<T>): T => parsed(schema, c.req.query());
const body = async <T>(c: Context, schema: z.ZodType<T>): Promise<T> =>
  parsed(schema, await c.req.json().catch(() => undefined));

function parsed<T>(schema: z.ZodType<T>, given: unknown): T {
  const { data, error } = schema.safeParse(given);
  if (!error) return data;
  const issues = error.issues.slice(0, 10).map(({ path, message }) => [path.join("."), message]);
  throw invalid(issues.map((parts) => parts.filter((part) => part).join(": ")).join("; "));
}

const invalid = (message: string) =>
  new ToolError("INVALID_INPUT", message, "These paths are for the agent client of the same build.");
