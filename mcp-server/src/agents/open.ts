import { randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import {
  AgentError,
  type Attachment,
  agentEvent,
  createAgents,
  createPlacedRunner,
  createRoles,
  createRunSkill,
  type LabServer,
  type OpenApprovals,
  openToolbox,
  type Remote,
  storedMessage,
  systemClock,
  type Toolbox,
  tryKey,
} from "@labwright/agent-client";
import { z } from "zod";
import { type AgentSettings, remoteToken } from "../config/agents.ts";
import { ToolError } from "../errors.ts";
import type { EventFeed } from "../services/index.ts";
import { type AgentApi, createAgentApi } from "./api/app.ts";
import type { OutsideEvent } from "./api/deps.ts";
import { startRuntime } from "./runtime/startRuntime.ts";
import type { LogLine } from "./runtime/types.ts";
import type { AgentStore } from "./store.ts";
import type { AgentFacts } from "./storeApi.ts";
import { createTasks, type TaskProgress } from "./tasks.ts";

export type AgentsDeps = {
  settings: AgentSettings;
  env: Readonly<Record<string, string | undefined>>;
  /** Where `POST api-key` keeps the key of the model. */
  keyFile: string;
  store: AgentStore;
  skills: AgentFacts["skills"];
  policy: AgentFacts["policy"];
  events: EventFeed;
  /** This server, as its clients know it. */
  own: { url: URL; token: string };
  /** What people's conversations drive, and what autonomous agents do: one client each, in every life of this server. */
  clients: { chat: string; agent: string };
  /** Gives back what a client holds of devices. */
  releaseClient(client: string): Promise<void>;
  allowedOrigins: readonly string[];
  log(line: LogLine): void;
  fault(error: unknown, trace_id: string): void;
};

/** The agents on this server, as it serves them. */
export type Agents = AgentApi & {
  /** How many conversations and tasks run here. */
  running(): number;
  /** Calls of conversations and agents here that wait for a person. */
  openApprovals: OpenApprovals;
  /** What a task that runs here reported last, by its key. */
  progressOf(key: string): TaskProgress | undefined;
  /** Starts the agents without a conversation, as far as they are enabled. Gives how many work now. */
  startAutonomous(): number;
};

const publishMs = 120_000;
const healthMs = 3_000;

/**
 * Conversations, and the agents without one. They reach the tools as clients of this server, each
 * of the two under a name of its own, so that what a person drives is not theirs to give back. Throws CONFIG_INVALID.
 */
export async function openAgents(deps: AgentsDeps): Promise<Agents> {
  const { settings, env, keyFile, own } = deps;
  const tools = toolsFor(deps, deps.clients.chat);
  const server = { toolbox: tools.toolbox, skills: async () => deps.skills(), store: ownStore(deps) };
  const made = await createAgents(server, settings, { env, keyFile });
  const { conversations, agents, models, problems, openApprovals } = made;
  for (const { file, line, message } of problems)
    deps.log({ level: "warn", text: `An agent is left out: ${file}:${line}: ${message}` });
  const clock = systemClock;
  const tasks = createTasks({
    ...{ store: deps.store, clock, log: deps.log },
    runner: createPlacedRunner({
      ...{ toolbox: tools.toolbox, models, settings, clock },
      remotes: remotesIn(settings, env, deps.clients.chat),
      log: (text) => deps.log({ level: "info", text }),
    }),
    holder: `tasks/${process.pid}/${randomUUID().slice(0, 8)}`,
  });
  const runSkill = createRunSkill({ server, models, settings, clock, openApprovals });
  const messages = messagesIn(deps, {
    ...{ toolbox: tools.toolbox, clock, agents, policy: deps.policy },
    skillRunner: () => (models.current().length > 0 ? runSkill : undefined),
  });
  const api = createAgentApi({
    ...{ conversations, tasks, messages, env, clock, fault: deps.fault },
    ...{ settings: settings.api, allowedOrigins: deps.allowedOrigins, ownerToken: own.token },
    webhookSecret: env[settings.webhook_secret_env] || undefined,
    publish: (event) => publish(tools.toolbox, event),
    tryKey: (key) => tryKey(key, { settings, env }),
    saveKey: (key) => saveKey(keyFile, key),
    async health() {
      const signal = AbortSignal.timeout(healthMs);
      const answer = await tools.toolbox.call({ name: "list_hosts", input: {} }, { signal });
      return { server: !answer.isError, model: models.current()[0]?.model ?? null };
    },
  });
  const ending: (() => Promise<void>)[] = [
    tools.close,
    () => conversations.close(),
    () => tasks.close(),
    api.close,
  ];
  return {
    ...api,
    openApprovals,
    progressOf: tasks.progressOf,
    running: () => conversations.running() + tasks.running(),
    startAutonomous() {
      const { toolbox, close } = toolsFor(deps, deps.clients.agent);
      const own = { ...server, toolbox };
      const runSkill = createRunSkill({ server: own, models, settings, clock, openApprovals });
      const holder = `agents/${process.pid}/${randomUUID().slice(0, 8)}`;
      const runtime = startRuntime({
        ...{ toolbox, store: deps.store, events: deps.events, agents, holder, clock, log: deps.log },
        /** A key that is saved while this runs counts from the next task on. */
        get runSkill() {
          return models.current().length > 0 ? runSkill : undefined;
        },
      });
      ending.push(close, runtime.close);
      return runtime.agents;
    },
    async close() {
      // What cannot end keeps none of the others.
      for (const end of ending.splice(0).reverse())
        await end().catch((error: unknown) =>
          deps.log({ level: "warn", text: `The agents: ${String(error)}` }),
        );
    },
  };
}

/** The roles, for whoever sends a message: each owner has a desk of its own, and sees its own messages. */
function messagesIn({ store }: AgentsDeps, roles: Omit<Parameters<typeof createRoles>[0], "log">) {
  const desks = new Map<string, ReturnType<typeof createRoles>>();
  return {
    deliver(owner: string, message: unknown, signal: AbortSignal) {
      const log = { add: (one: StoredMessage) => store.addMessage(owner, one) };
      const desk = desks.get(owner) ?? createRoles({ ...roles, log });
      desks.set(owner, desk);
      return desk.deliver(message, { signal, progress: () => undefined });
    },
    list: store.messagesOf,
  };
}
type StoredMessage = Parameters<AgentStore["addMessage"]>[1];

function toolsFor({ own, settings, releaseClient }: AgentsDeps, client: string) {
  const attachment: Attachment = {
    url: own.url,
    headers: { authorization: `Bearer ${own.token}`, "x-labwright-client": client },
    // It dies with this process.
    lost: new AbortController().signal,
    close: () => {},
  };
  const { toolbox, close } = openToolbox({
    attach: async () => attachment,
    silentMs: () => settings.tool_timeout_seconds * 1_000,
  });
  return {
    toolbox,
    async close() {
      await close();
      await releaseClient(client);
    },
  };
}

const remotesIn = (
  { remotes, tool_timeout_seconds }: AgentSettings,
  env: AgentsDeps["env"],
  client: string,
) =>
  remotes.map(
    ({ name, url, capabilities, token }): Remote => ({
      ...{ name, url: new URL(url), capabilities, client: `remote/${client}` },
      token() {
        const value = remoteToken(token, env);
        if (value !== undefined) return value;
        const hint = "Give it the token that daemon.json of the remote has.";
        throw new AgentError("CONFIG_INVALID", `The token of the remote ${name} has no value.`, hint);
      },
      silentMs: () => tool_timeout_seconds * 1_000,
    }),
  );

/** What is stored is read as a client in another process reads it, and failures have the clients' codes. */
const ownStore = ({ store }: AgentsDeps): LabServer["store"] => ({
  ...store,
  createSession: (given) => store.createSession(given).catch(asAgentError),
  append: (...given) => store.append(...given).catch(asAgentError),
  hold: (...given) => store.hold(...given).catch(asAgentError),
  messages: async (...given) =>
    storedMessage.array().parse(await store.messages(...given).catch(asAgentError)),
  events: async (...given) => agentEvent.array().parse(await store.events(...given).catch(asAgentError)),
});

function asAgentError(error: unknown): never {
  const knownCodes = ["SESSION_BUSY", "SESSION_NOT_FOUND", "INPUT_TOO_LARGE"] as const;
  if (!(error instanceof ToolError)) throw error;
  const code = knownCodes.find((one) => one === error.code) ?? "INTERNAL";
  throw new AgentError(code, error.message, error.hint, error.details);
}

const publishedSchema = z.object({ event_id: z.int() });

async function publish(toolbox: Toolbox, { key, ...event }: OutsideEvent): Promise<{ event_id: number }> {
  const use = { name: "publish_event", input: { ...event, delivery: key } };
  const { structured, parts } = await toolbox.call(use, { signal: AbortSignal.timeout(publishMs) });
  const { data } = publishedSchema.safeParse(structured);
  if (data) return data;
  const why = parts.map((part) => (part.type === "text" ? part.text : "")).join(" ");
  throw new AgentError("SERVER_UNREACHABLE", `The event was not published: ${why}`, "Send it again.");
}

/** Keeps one key in `file`, which only its owner may read. A reader gets the whole old one or the whole new one. */
export async function saveKey(file: string, key: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, `${key}\n`, { mode: 0o600, flag: "wx", flush: true });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
