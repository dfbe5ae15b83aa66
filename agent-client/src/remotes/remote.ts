import {
  type Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { AgentError, type AgentErrorCode } from "../errors.ts";
import { newClient } from "../mcp/labServer.ts";
import { mcpToolbox } from "../mcp/toolbox.ts";
import type { Toolbox, ToolSpec } from "../ports.ts";

/** Another Labwright server, as `agents.remotes` of labwright.yaml names it. */
export type Remote = {
  name: string;
  url: URL;
  /** What it is set for. */
  capabilities: readonly string[];
  /** Read at each connection. Throws CONFIG_INVALID where it has no value. */
  token(): string;
  /** Our name there. */
  client: string;
  /** How long a tool may say nothing, in milliseconds. */
  silentMs(): number;
};

/**
 * The remote's tools by MCP over HTTP; connects at the first use. `specs` rejects with an AgentError. A call that fails on its
 * way is a result with a code: CONNECTION_REFUSED did nothing and may be repeated; OUTCOME_UNKNOWN is a call that may write and
 * whose answer was lost, so it must not be.
 */
export function openRemote(remote: Remote): { toolbox: Toolbox; close(): Promise<void> } {
  const { url, token, client: name, silentMs } = remote;
  let opened: Promise<Client> | undefined;
  let specs: readonly ToolSpec[] = [];
  const mayWrite = (tool: string) => specs.find((spec) => spec.name === tool)?.readOnly !== true;

  async function start(): Promise<Client> {
    const client = newClient();
    const headers = { authorization: `Bearer ${token()}`, "x-labwright-client": name };
    const fetch = watchedFetch(() => {
      opened = undefined;
      client.close().catch(() => {});
    });
    const options = { requestInit: { headers }, fetch };
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), options));
    return client;
  }
  function connect(): Promise<Client> {
    opened ??= start().catch((error: unknown) => {
      opened = undefined;
      throw notConnected(remote, error);
    });
    return opened;
  }

  const toolbox = mcpToolbox({
    ...{ connect, silentMs, isLost: () => false },
    failed(error, tool) {
      const { code, message, hint } = callFailure(remote, error, { tool, writes: mayWrite(tool) });
      return `${code}: ${message}\n${hint}`;
    },
  });
  return {
    toolbox: {
      async specs() {
        specs = await toolbox.specs().catch((error: unknown) => {
          throw notConnected(remote, error);
        });
        return specs;
      },
      call: toolbox.call,
    },
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}

/** Reports a reply that breaks off, which the SDK takes for a silence. Follows no redirect with the token. */
function watchedFetch(broken: () => void): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    if (!response.body) return response;
    const reader = response.body.getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
          if (!init?.signal?.aborted) broken();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return new Response(body, response);
  };
}

const refused = (code: AgentErrorCode, { name, url }: Remote, what: string, hint: string, details = {}) =>
  new AgentError(code, `The remote ${name} (${url.origin}) ${what}`, hint, { remote: name, ...details });

const refusals: Readonly<Record<number, readonly [why: string, fix: string]>> = {
  401: ["the token is not its own", "Give agents.remotes the token that daemon.json of the remote has."],
  403: ["it does not answer as this host", "Add the host of the url to server.allowed_hosts of the remote."],
};

/** No part of a call was sent yet. */
function notConnected(remote: Remote, error: unknown): AgentError {
  if (error instanceof AgentError) return error;
  const codes = codesIn(error);
  if (codes.some((code) => /CERT|TLS|SSL|SELF_SIGNED/.test(code)))
    return refused(
      "INVALID_RESPONSE",
      remote,
      `has a certificate that is not trusted (${codes.join(", ")}).`,
      "Start this server with NODE_EXTRA_CA_CERTS set to the certificate of its authority.",
    );
  const status = error instanceof SdkHttpError ? (error.status ?? 0) : 0;
  const [why, fix] = refusals[status] ?? [];
  if (why && fix)
    return refused("INVALID_RESPONSE", remote, `refused us (HTTP ${status}): ${why}.`, fix, { status });
  if (codes.length > 0 || isNetwork(error)) return unreached(remote, codes);
  return refused(
    "INVALID_RESPONSE",
    remote,
    `does not speak MCP as this server does: ${messageOf(error)}`,
    "Check that the url is that of a Labwright server of the same version.",
  );
}

const unreached = (remote: Remote, codes: readonly string[]) =>
  refused(
    "CONNECTION_REFUSED",
    remote,
    `cannot be reached${codes.length > 0 ? ` (${codes.join(", ")})` : ""}. Nothing was done.`,
    "Check that it runs (`labwright doctor` asks it), and its url in agents.remotes.",
  );

/** Errors of a connection that was never made. */
const unsent: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"],
]);

function callFailure(
  remote: Remote,
  error: unknown,
  { tool, writes }: { tool: string; writes: boolean },
): { code: string; message: string; hint: string } {
  if (error instanceof AgentError) return error;
  if (error instanceof ProtocolError) return { code: "TOOL_FAILED", message: error.message, hint: "" };
  const codes = codesIn(error);
  if (codes.some((code) => unsent.has(code))) return unreached(remote, codes);
  if (error instanceof SdkHttpError && (error.status ?? 0) < 500) return notConnected(remote, error);
  if (writes)
    return refused(
      "OUTCOME_UNKNOWN",
      remote,
      `did not say how ${tool} ended: ${messageOf(error)}. Its effect is unknown, and it was not repeated.`,
      "See what it did with get_execution_results on the remote before you give the rest as a new task.",
    );
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return refused(
      "REQUEST_TIMEOUT",
      remote,
      `was silent too long during ${tool}.`,
      "Raise agents.tool_timeout_seconds.",
    );
  return error instanceof SdkHttpError ? notConnected(remote, error) : unreached(remote, codes);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isNetwork = (error: unknown): boolean =>
  (error instanceof TypeError && error.message === "fetch failed") ||
  (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed);

/** Codes of the system and of Node in an error and in what caused it; the SDK's own are left out. */
function codesIn(error: unknown): string[] {
  const codes: string[] = [];
  let at = error;
  for (let depth = 0; depth < 5 && at instanceof Error; depth++) {
    if (!(at instanceof SdkError) && "code" in at && typeof at.code === "string") codes.push(at.code);
    at = at.cause;
  }
  return codes;
}
