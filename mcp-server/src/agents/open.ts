import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import {
  AgentError,
  type Attachment,
  createAgents,
  createRunSkill,
  httpStore,
  type LabServer,
  openToolbox,
  systemClock,
  type Toolbox,
  tryKey,
} from "@labwright/agent-client";
import { Hono } from "hono";
import { z } from "zod";
import type { AgentSettings } from "../config/agents.ts";
import type { EventFeed } from "../services/index.ts";
import { createAgentApp } from "./api/app.ts";
import type { ApiDeps, Publish } from "./api/deps.ts";
import { createGate } from "./api/gate.ts";
import { createSockets } from "./api/sockets.ts";
import { clientsOf } from "./clients.ts";
import { saveKey } from "./keyFile.ts";
import { type LogLine, startRuntime } from "./runtime/index.ts";
import type { AgentStore } from "./store.ts";
import type { AgentFacts } from "./storeApi.ts";

export type AgentsDeps = {
  settings: AgentSettings;
  env: Readonly<Record<string, string | undefined>>;
  /** Where `POST api-key` keeps the key of the model. */
  keyFile: string;
  store: AgentStore;
  /** The routes that every client has of the store. */
  storeApi: Hono;
  skills: AgentFacts["skills"];
  events: EventFeed;
  /** This server, as its clients know it. */
  own: { url: URL; token: string };
  /** Names this server among those on one database. */
  host: string;
  /** Gives back what a client holds of devices. */
  releaseClient(client: string): Promise<void>;
  allowedOrigins: readonly string[];
  log(line: LogLine): void;
  fault(error: unknown, trace_id: string): void;
};

/** The agents on this server, as it serves them. */
export type Agents = {
  /** `/server/agent`, past the checks of Host and Origin. `env` has the bindings of the HTTP server. */
  fetch(request: Request, env: unknown): Response | Promise<Response>;
  /** `/socket.io`, past the same checks. */
  socketRequest(incoming: IncomingMessage, outgoing: ServerResponse): void;
  socketUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** How many conversations run here. */
  running(): number;
  /** How many clients hold a connection open. */
  connections(): number;
  /** Starts the agents that nobody talks to, as far as they are enabled. Gives how many work now. */
  startAutonomous(): number;
  /** Ends every run and connection, and gives back what they hold. */
  close(): Promise<void>;
};

const publishMs = 120_000;
const healthMs = 3_000;

/**
 * Conversations for whoever asks, and the agents that nobody talks to. They reach the tools as clients of this server, each
 * of the two under a name of its own, so that what a person drives is not theirs to give back. Throws CONFIG_INVALID.
 */
export async function openAgents(deps: AgentsDeps): Promise<Agents> {
  const { settings, env, keyFile, own, events, store } = deps;
  const tools = toolsFor(deps, "chat");
  const server = { toolbox: tools.toolbox, skills: async () => deps.skills(), store: ownStore(deps) };
  const { conversations, agents, models, problems } = await createAgents(server, settings, { env, keyFile });
  for (const { file, line, message } of problems)
    deps.log({ level: "warn", text: `An agent is left out: ${file}:${line}: ${message}` });
  const api: ApiDeps = {
    ...{ conversations, agents, env, clock: systemClock, fault: deps.fault },
    ...{ settings: settings.api, allowedOrigins: deps.allowedOrigins, ownerToken: own.token },
    webhookSecret: env[settings.webhook_secret_env] || undefined,
    publish: publisher(tools.toolbox),
    tryKey: (key) => tryKey(key, { settings, env }),
    saveKey: (key) => saveKey(keyFile, key),
    async health() {
      const signal = AbortSignal.timeout(healthMs);
      const answer = await tools.toolbox.call({ name: "list_hosts", input: {} }, { signal });
      return { server: !answer.isError, model: models.current()[0]?.model ?? null };
    },
  };
  const gate = createGate(api);
  const app = createAgentApp(api, gate);
  const sockets = createSockets(api, gate);
  const ending: (() => Promise<void>)[] = [tools.close, () => conversations.close(), sockets.close];
  return {
    fetch: (request, bindings) => app.fetch(request, bindings),
    socketRequest: sockets.request,
    socketUpgrade: sockets.upgrade,
    running: conversations.running,
    connections: sockets.count,
    startAutonomous() {
      const { toolbox, close } = toolsFor(deps, "agent");
      const clock = systemClock;
      const runSkill = createRunSkill({ server: { ...server, toolbox }, models, settings, clock });
      const holder = `agents/${process.pid}/${randomUUID().slice(0, 8)}`;
      const runtime = startRuntime({
        ...{ toolbox, store, events, agents, holder, clock, log: deps.log },
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

function toolsFor({ own, host, settings, releaseClient }: AgentsDeps, part: "chat" | "agent") {
  const client = clientsOf(host)[part];
  const attachment: Attachment = {
    url: own.url,
    headers: {
      authorization: `Bearer ${own.token}`,
      "x-labwright-client": client,
    },
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

/** The store by the routes that every client has, without a network between. */
function ownStore({ storeApi }: AgentsDeps): LabServer["store"] {
  const routes = new Hono().route("/server/agent/store", storeApi);
  return httpStore(async (path, { method, body, query }) => {
    const search = query ? `?${new URLSearchParams(query)}` : "";
    const response = await routes.request(`${path}${search}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
    });
    const answer: unknown = await response.json().catch(() => undefined);
    return { status: response.status, body: answer };
  });
}

const publishedSchema = z.object({ event_id: z.int() });

/** By the tool, under a key of its own: what was published stays one event, also over a restart. */
const publisher =
  (toolbox: Toolbox): Publish =>
  async ({ key, ...event }) => {
    const use = { name: "publish_event", input: { ...event, idempotency_key: key } };
    const { structured, parts } = await toolbox.call(use, { signal: AbortSignal.timeout(publishMs) });
    const { data } = publishedSchema.safeParse(structured);
    if (data) return data;
    const why = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
    throw new AgentError("SERVER_UNREACHABLE", `The event was not published: ${why}`, "Send it again.");
  };
