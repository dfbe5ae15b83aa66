import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Agent } from "./agents/agent.ts";
import { loadAgents } from "./agents/load.ts";
import { type ApiDeps, fileKeyStore, type Publish, startApi } from "./api/index.ts";
import type { OpenAgent, OpenAgentOptions } from "./cli/agentClient.ts";
import { systemClock } from "./clock.ts";
import { AgentError } from "./errors.ts";
import type { Attach, Attachment } from "./mcp/daemon.ts";
import { openLabServer } from "./mcp/labServer.ts";
import { type ModelSource, openModels, tryKey } from "./model/models.ts";
import { recordingFetch, replayingFetch } from "./model/recording.ts";
import type { LabServer } from "./ports.ts";
import { startRuntime } from "./runtime/index.ts";
import { createConversations } from "./sessions/engine.ts";
import { createRunSkill } from "./sessions/runSkill.ts";
import { type Settings, settingsSchema } from "./settings.ts";

export type ComposeOptions = Pick<OpenAgentOptions, "env" | "model" | "record" | "replay"> & {
  /** As a client of that name beside others of this process; what each holds is its own. */
  attach(part: "chat" | "agent"): ReturnType<Attach>;
  /** With the key that `POST api-key` saves. */
  keyFile: string;
};

const publishMs = 120_000;
const healthMs = 3_000;
/** Deliveries that are remembered as told. */
const maxRemembered = 10_000;

/** Everything of the agent client, on a server that `attach` finds. Throws SERVER_UNREACHABLE, CONFIG_INVALID. */
export async function composeAgent(options: ComposeOptions): Promise<OpenAgent> {
  const holder = `agent/${process.pid}/${randomUUID().slice(0, 8)}`;
  let attachment: Attachment | undefined;
  let settings = settingsSchema.parse({});
  const attach: Attach = async () => {
    attachment = await options.attach("chat");
    return attachment;
  };
  const server = openLabServer({ attach, ...identity(() => settings) });
  try {
    settings = readSettings(await server.settings());
    return await compose({ ...options, server, settings, holder, attachment: () => attachment });
  } catch (error) {
    await server.close();
    throw error;
  }
}

type Parts = ComposeOptions & {
  server: LabServer;
  settings: Settings;
  holder: string;
  attachment(): Attachment | undefined;
};

async function compose(parts: Parts): Promise<OpenAgent> {
  const { server, settings, env, holder } = parts;
  const models = modelsOf(parts);
  const skills = await server.skills();
  const loaded = loadAgents({
    userFolder: env.LABWRIGHT_AGENTS_DIR || undefined,
    knownSkills: new Set(skills.map(({ name }) => name)),
  });
  const agents = loaded.agents.map((agent) => changed(agent, settings));
  const clock = systemClock;
  const conversations = createConversations({ server, agents, models, settings, clock, holder });
  return {
    conversations,
    agents,
    problems: loaded.problems,
    get server() {
      return parts.attachment()?.url.origin ?? "";
    },
    skills: server.skills,
    tasks: server.store.tasks,
    get models() {
      return models.current();
    },
    serve: ({ host, port }) => {
      const api = {
        ...settings.api,
        ...(host !== undefined && { host }),
        ...(port !== undefined && { port }),
      };
      return startApi({
        ...apiDeps(parts, models),
        ...{ conversations, agents, settings: api },
        /** Another one for each life of the daemon. */
        get ownerToken() {
          return tokenOf(parts);
        },
      });
    },
    startAutonomous: (say) => startAutonomous(parts, { models, agents, say }),
    async close() {
      await conversations.close();
      await server.close();
    },
  };
}

function readSettings(given: Readonly<Record<string, unknown>>): Settings {
  const { data, error } = settingsSchema.safeParse(given);
  if (data) return data;
  const problems = error.issues.map(({ path, message }) => `agents.${path.join(".")}: ${message}`);
  throw new AgentError(
    "CONFIG_INVALID",
    problems.join("\n"),
    "Mend `agents` in labwright.yaml, then `labwright stop`, so that the server reads it anew.",
  );
}

/** The settings change an agent's own `config`, key by key. */
function changed(agent: Agent, { agents }: Settings): Agent {
  const { limits, ...rest } = agents[agent.name] ?? {};
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { ...agent, config: { ...agent.config, ...given, limits: { ...agent.config.limits, ...limits } } };
}

function modelsOf({ settings, env, keyFile, model, record, replay }: Parts): ModelSource {
  const wire = replay === undefined ? fetch : replayingFetch(replay);
  return openModels({
    settings,
    // What is replayed asks nobody, so it needs no key.
    env: replay === undefined ? env : { ...env, ANTHROPIC_API_KEY: env.ANTHROPIC_API_KEY || "replay" },
    keyFile,
    model,
    fetch: record === undefined ? wire : recordingFetch(record, wire),
  });
}

type OwnApiDeps = Omit<ApiDeps, "conversations" | "agents" | "settings" | "ownerToken">;

/** When the daemon died, who asks has the next one looked for, whose token counts from then on. */
function tokenOf({ attachment, server }: Parts): string {
  const known = attachment();
  if (known?.lost.aborted) server.settings().catch(() => {});
  return known?.headers.authorization?.replace(/^Bearer /, "") ?? "";
}

function apiDeps({ server, settings, env, keyFile }: Parts, models: ModelSource): OwnApiDeps {
  return {
    webhookSecret: () => env[settings.webhook_secret_env] || undefined,
    publish: publisher(server),
    keys: fileKeyStore(keyFile, (key) => tryKey(key, { settings, env })),
    clock: systemClock,
    env,
    fault(error, trace_id) {
      const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
      process.stderr.write(`${JSON.stringify({ level: "error", trace_id, error: why })}\n`);
    },
    async health() {
      const signal = AbortSignal.timeout(healthMs);
      const answer = await server.toolbox
        .call({ name: "list_hosts", input: {} }, { signal })
        .catch(() => undefined);
      return { server: answer?.isError === false, model: models.current()[0]?.model ?? null };
    },
  };
}

const publishedSchema = z.object({ event_id: z.int() });

/** By the tool, under a key of its own: what was published stays one event, also over a restart. */
function publisher({ toolbox }: LabServer): Publish {
  const published = new Map<string, number>();
  return async ({ key, ...event }) => {
    const before = published.get(key);
    if (before !== undefined) return { event_id: before, repeated: true };
    const signal = AbortSignal.timeout(publishMs);
    const use = { name: "publish_event", input: { ...event, idempotency_key: key } };
    const { structured, parts } = await toolbox.call(use, { signal });
    const { data } = publishedSchema.safeParse(structured);
    if (!data) {
      const why = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
      throw new AgentError("SERVER_UNREACHABLE", `The event was not published: ${why}`, "Send it again.");
    }
    if (published.size >= maxRemembered) published.clear();
    published.set(key, data.event_id);
    return { event_id: data.event_id, repeated: false };
  };
}

/** They are a client of their own, so that what a person drives is not theirs to give back. */
async function startAutonomous(
  { settings, holder, attach }: Parts,
  given: { models: ModelSource; agents: readonly Agent[]; say(line: string): void },
): Promise<{ close(): Promise<void> }> {
  const { models, agents, say } = given;
  const server = openLabServer({ attach: () => attach("agent"), ...identity(() => settings) });
  const runSkill = createRunSkill({ server, models, settings, clock: systemClock });
  const runtime = await startRuntime({
    ...{ server, agents, holder, clock: systemClock },
    /** A key that is saved while this runs counts from the next task on. */
    get runSkill() {
      return models.current().length > 0 ? runSkill : undefined;
    },
    log: ({ level, text }) => {
      if (level !== "debug") say(text);
    },
  });
  return {
    async close() {
      await runtime.close();
      await server.close();
    },
  };
}

const identity = (settings: () => Settings) => ({
  silentMs: () => settings().tool_timeout_seconds * 1_000,
  name: "labwright-agent",
  version: "0.0.0",
});
