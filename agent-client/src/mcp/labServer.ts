import { randomUUID } from "node:crypto";
import { skillSchema } from "@labwright/skills";
import { Client, SdkError, SdkErrorCode, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { AgentError } from "../errors.ts";
import type { LabServer, LabSkill, Toolbox } from "../ports.ts";
import type { Settings } from "../settings.ts";
import { httpStore, serverSettings } from "../store/httpStore.ts";
import { type Attach, type Attachment, createDaemon, type Daemon } from "./daemon.ts";
import { mcpToolbox } from "./toolbox.ts";

export type LabServerOptions = {
  attach: Attach;
  /** How long a tool may say nothing, in milliseconds; read at each call. */
  silentMs(): number;
};

const identity = { name: "labwright-agent", version: "0.0.0" };

const storePath = "/server/agent/store";
/** So often skills are looked at again; the user's own change while this runs. */
const skillsMs = 5_000;
const skillsSchema = z.object({
  hash: z.string(),
  /** Left out when the asker has those of this hash. */
  skills: z
    .array(skillSchema.extend({ own: z.boolean().default(false), examples: z.array(z.string()).default([]) }))
    .optional(),
});

/** The server in another process: tools by MCP over HTTP, and what is stored by its routes. */
export type RemoteLab = LabServer & {
  settings(): Promise<Settings>;
  /** Gives back what this client holds: its leases among them. */
  close(): Promise<void>;
};

export function openLabServer(options: LabServerOptions): RemoteLab {
  const daemon = createDaemon(options.attach);
  const { toolbox, close } = toolsOf(daemon, options);
  return {
    toolbox,
    skills: createSkillSource(daemon),
    store: httpStore(daemon.request),
    settings: () => serverSettings(daemon.request),
    close,
  };
}

/** The server's tools alone. `close` gives back what this client holds. */
export const openToolbox = (options: LabServerOptions): { toolbox: Toolbox; close(): Promise<void> } =>
  toolsOf(createDaemon(options.attach), options);

function toolsOf(daemon: Daemon, options: LabServerOptions) {
  const { connect, isLost, close } = createConnection(daemon);
  return {
    toolbox: mcpToolbox({ connect, isLost, silentMs: options.silentMs, newKey: randomUUID }),
    async close() {
      await close();
      daemon.close();
    },
  };
}

/** One MCP client for each life of the daemon. */
function createConnection(daemon: Daemon) {
  let open: { attachment: Attachment; client: Promise<Client> } | undefined;

  async function start({ url, headers, lost }: Attachment): Promise<Client> {
    const mode = { pin: "2026-07-28" } as const;
    const client = new Client(identity, { versionNegotiation: { mode } });
    // A reply that breaks off ends no call by itself: without this, each waits until the server was silent too long.
    lost.addEventListener("abort", () => void client.close().catch(() => {}), { once: true });
    await client.connect(
      new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers: { ...headers } } }),
    );
    return client;
  }

  return {
    async connect(): Promise<Client> {
      const attachment = await daemon.attachment();
      if (open?.attachment !== attachment) open = { attachment, client: start(attachment) };
      const { client } = open;
      client.catch(() => {
        if (open?.client === client) open = undefined;
      });
      return client;
    },
    /** What a call met while its daemon died is lost; a refusal or a timeout is not. */
    isLost: (error: unknown) =>
      open?.attachment.lost.aborted === true ||
      (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) ||
      (error instanceof TypeError && error.message === "fetch failed"),
    async close() {
      const client = await open?.client.catch(() => undefined);
      await client?.close();
    },
  };
}

/** The same array until one of them changes. */
function createSkillSource(daemon: Daemon): () => Promise<readonly LabSkill[]> {
  let known = { hash: "", skills: [] as readonly LabSkill[], until: 0 };
  return async () => {
    if (performance.now() < known.until) return known.skills;
    const query = { hash: known.hash };
    const { status, body } = await daemon.request(`${storePath}/skills`, { method: "GET", query });
    const { hash, skills = known.skills } = answered(status, skillsSchema.safeParse(body));
    known = { hash, skills, until: performance.now() + skillsMs };
    return skills;
  };
}

function answered<T>(status: number, parsed: z.ZodSafeParseResult<T>): T {
  if (status === 200 && parsed.success) return parsed.data;
  throw new AgentError(
    "SERVER_UNREACHABLE",
    `The server answered ${status} where its own routes were asked.`,
    "Is it of the same version as this client? `labwright stop` ends it, the next command starts this one's.",
  );
}
