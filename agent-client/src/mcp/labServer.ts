import { skillSchema } from "@labwright/skills";
import { Client, SdkError, SdkErrorCode, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { AgentError } from "../errors.ts";
import type { LabServer, LabSkill } from "../ports.ts";
import type { MessageLog } from "../roles/desk.ts";
import type { Policy } from "../roles/policy.ts";
import type { Settings } from "../settings.ts";
import { httpMessages, httpPolicy, httpStore, serverSettings, storeRoutes } from "../store/httpStore.ts";
import { type Attach, type Attachment, createDaemon, type Daemon } from "./daemon.ts";
import { mcpToolbox } from "./toolbox.ts";

export type LabServerOptions = {
  attach: Attach;
  /** How long a tool may say nothing, in milliseconds; read at each call. */
  silentMs(): number;
};

const identity = { name: "labwright-agent", version: "0.0.0" };

/** Not connected yet. */
export const newClient = () => new Client(identity, { versionNegotiation: { mode: { pin: "2026-07-28" } } });

/** The time after which the skills are read again: the user may change one while this runs. */
const skillsMs = 5_000;
const skillsSchema = z.object({
  skills: z.array(
    skillSchema.extend({ own: z.boolean().default(false), examples: z.array(z.string()).default([]) }),
  ),
});

/** The server in another process: tools by MCP over HTTP, and what is stored by its routes. */
export type RemoteLab = LabServer & {
  settings(): Promise<Settings>;
  messages: MessageLog;
  policy: Policy;
  /** The bytes of `artifact://...`. Throws NOT_FOUND. */
  artifact(uri: string): Promise<Uint8Array>;
  /** Gives back what this client holds: its leases among them. */
  close(): Promise<void>;
};

export function openLabServer({ attach, silentMs }: LabServerOptions): RemoteLab {
  const daemon = createDaemon(attach);
  return {
    ...openTools(daemon, silentMs),
    skills: createSkillSource(daemon),
    store: httpStore(daemon.request),
    settings: () => serverSettings(daemon.request),
    messages: httpMessages(daemon.request),
    policy: httpPolicy(daemon.request),
    artifact: (uri) => artifactAt(daemon, uri),
  };
}

async function artifactAt(daemon: Daemon, uri: string): Promise<Uint8Array> {
  const { url, headers } = await daemon.attachment();
  const name = encodeURIComponent(uri.replace(/^artifact:\/\//, ""));
  const response = await fetch(new URL(`/api/v1/artifacts/${name}`, url), { headers });
  if (response.ok) return new Uint8Array(await response.arrayBuffer());
  throw new AgentError(
    "NOT_FOUND",
    `${uri} cannot be read: HTTP status ${response.status}.`,
    "Run it again.",
  );
}

/** The server's tools alone. `close` gives back what this client holds. */
export const openToolbox = ({ attach, silentMs }: LabServerOptions): Pick<RemoteLab, "toolbox" | "close"> =>
  openTools(createDaemon(attach), silentMs);

/** One MCP client for each life of the daemon. */
function openTools(daemon: Daemon, silentMs: () => number) {
  let open: { attachment: Attachment; client: Promise<Client> } | undefined;

  async function start({ url, headers, lost }: Attachment): Promise<Client> {
    const client = newClient();
    // A reply that breaks off ends no call by itself: without this, each waits until the server was silent too long.
    lost.addEventListener("abort", () => void client.close().catch(() => {}), { once: true });
    await client.connect(
      new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers: { ...headers } } }),
    );
    return client;
  }

  async function connect(): Promise<Client> {
    const attachment = await daemon.attachment();
    if (open?.attachment !== attachment) open = { attachment, client: start(attachment) };
    const { client } = open;
    client.catch(() => {
      if (open?.client === client) open = undefined;
    });
    return client;
  }

  /** What a call met while its daemon died is lost; a refusal or a timeout is not. */
  const isLost = (error: unknown) =>
    open?.attachment.lost.aborted === true ||
    (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) ||
    (error instanceof TypeError && error.message === "fetch failed");

  return {
    toolbox: mcpToolbox({ connect, isLost, silentMs }),
    async close() {
      const client = await open?.client.catch(() => undefined);
      await client?.close();
      daemon.close();
    },
  };
}

function createSkillSource({ request }: Daemon): () => Promise<readonly LabSkill[]> {
  const ask = storeRoutes(request);
  let known = { skills: [] as readonly LabSkill[], until: 0 };
  return async () => {
    if (performance.now() < known.until) return known.skills;
    const { skills } = await ask("GET", "/skills", skillsSchema);
    known = { skills, until: performance.now() + skillsMs };
    return skills;
  };
}
