import { randomUUID } from "node:crypto";
import type { Agent } from "./agents/agent.ts";
import { loadAgents } from "./agents/load.ts";
import { withSettings } from "./agents/settings.ts";
import { systemClock } from "./clock.ts";
import type { Attach, Attachment } from "./mcp/daemon.ts";
import { openLabServer } from "./mcp/labServer.ts";
import { createSharedDevices, type SharedDevices } from "./mcp/sharedDevices.ts";
import { type ModelSource, openModels } from "./model/models.ts";
import { recordingFetch } from "./model/recording.ts";
import type { LabServer, LabSkill, Toolbox } from "./ports.ts";
import type { QaPolicy } from "./roles/critic.ts";
import type { Desk } from "./roles/desk.ts";
import { createRoles } from "./roles/open.ts";
import type { OpenApprovals } from "./sessions/approvals.ts";
import type { Conversations } from "./sessions/engine.ts";
import { createConversations } from "./sessions/engine.ts";
import { createRunSkill } from "./sessions/runSkill.ts";
import type { Settings } from "./settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export type AgentOptions = {
  env: Environment;
  /** With the key that `POST api-key` saves. */
  keyFile: string;
  /** Comes before the models of the settings. */
  model?: string | undefined;
  /** File that every exchange with the model is written to. */
  record?: string | undefined;
};

export type Agents = {
  conversations: Conversations;
  /** As the settings have changed them. */
  agents: readonly Agent[];
  /** What is wrong with the user's own agents, which are left out. */
  problems: ReturnType<typeof loadAgents>["problems"];
  models: ModelSource;
  /** Calls of conversations that wait for a person; other runs may share it. */
  openApprovals: OpenApprovals;
};

/** The agents on a server, with conversations for those that people talk to. */
export async function createAgents(
  server: LabServer,
  settings: Settings,
  options: AgentOptions,
): Promise<Agents> {
  const { env, keyFile, model, record } = options;
  const models = openModels({
    settings,
    env,
    keyFile,
    model,
    ...(record && { fetch: recordingFetch(record, fetch) }),
  });
  const skills = await server.skills();
  const { agents: found, problems } = loadAgents({
    userFolder: options.env.LABWRIGHT_AGENTS_DIR || undefined,
    knownSkills: new Set(skills.map(({ name }) => name)),
  });
  const agents = found.map((agent) => withSettings(agent, settings));
  const holder = `agent/${process.pid}/${randomUUID().slice(0, 8)}`;
  const openApprovals: OpenApprovals = new Map();
  const shared = { server, models, settings, clock: systemClock, openApprovals };
  const conversations = createConversations({ ...shared, agents, holder });
  return { conversations, agents, problems, models, openApprovals };
}

/** The agents in this process, on a server in another one. */
export type OpenAgent = Omit<Agents, "models" | "openApprovals"> & {
  /** The server's address, for a person to read. */
  server: string;
  skills(): Promise<readonly LabSkill[]>;
  /** Lets others use the devices of this client while it has nothing to do. */
  devices: Pick<SharedDevices, "giveBack" | "takeAgain">;
  /** In the order that they are asked; empty without a key. */
  models: readonly { model: string }[];
  /** The roles of `labwright qa`, over this client. */
  roles(options: { qaPolicy?: QaPolicy | undefined }): Desk;
  toolbox: Toolbox;
  /** The bytes of `artifact://...`. */
  artifact(uri: string): Promise<Uint8Array>;
  /** Ends every run and gives back what this client holds. */
  close(): Promise<void>;
};

/** Throws CONFIG_INVALID, SERVER_UNREACHABLE. */
export async function openAgent(options: AgentOptions & { attach: Attach }): Promise<OpenAgent> {
  let attachment: Attachment | undefined;
  let settings: Settings | undefined;
  const server = openLabServer({
    async attach() {
      attachment = await options.attach();
      return attachment;
    },
    silentMs: () => (settings?.tool_timeout_seconds ?? 0) * 1_000,
  });
  try {
    settings = await server.settings();
    const devices = createSharedDevices(server.toolbox);
    const { toolbox } = devices;
    const lab = { ...server, toolbox };
    const { models, ...rest } = await createAgents(lab, settings, options);
    const runSkill = createRunSkill({ server: lab, models, settings, clock: systemClock });
    const skillRunner = () => (models.current().length > 0 ? runSkill : undefined);
    return {
      ...rest,
      get server() {
        return attachment?.url.origin ?? "";
      },
      skills: server.skills,
      toolbox,
      artifact: server.artifact,
      roles: (given) =>
        createRoles({
          ...{ toolbox, agents: rest.agents, skillRunner, clock: systemClock },
          ...{ policy: server.policy, log: server.messages, ...given },
        }),
      devices,
      get models() {
        return models.current();
      },
      async close() {
        await rest.conversations.close();
        await server.close();
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}
