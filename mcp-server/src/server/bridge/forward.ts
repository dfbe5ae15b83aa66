import { randomUUID } from "node:crypto";
import {
  type CallToolResult,
  Client,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { type Backend, idempotencyKeyMeta, type ToolCall } from "../createServer.ts";
import { type DaemonFile, daemonHeaders, daemonUrl } from "../daemonFile.ts";
import type { Attached, Loss } from "./attach.ts";
import { BridgeError, failedResult } from "./bridgeError.ts";

/** A forwarded call has no time limit of the bridge's own: host and daemon decide. The largest delay a timer takes. */
const unlimited = 2 ** 31 - 1;
const attempts = 3;
/** A daemon that keeps dying is not started again and again without a call that wants it. */
const eagerRestarts = { max: 3, perMs: 60_000 };

export type Forward = Backend & {
  /** Finds or starts the daemon ahead of the first call; a failure is told by the call that meets it. */
  warm(): void;
  close(): Promise<void>;
};

type Link = { client: Client; attached: Attached };

/** The connection broke with the daemon; whether the tool ran is not known here. */
class DaemonLost extends Error {}

export function createForward(deps: {
  /** Tools that may be sent again without a key. */
  repeatable: ReadonlySet<string>;
  /** This bridge's name to the daemon; asked once, at the first link. */
  client: () => string;
  find(client: string): Promise<Attached>;
}): Forward {
  let current: Promise<Link> | undefined;
  let name: string | undefined;
  let isClosed = false;
  let restarts: number[] = [];

  async function connect(): Promise<Link> {
    name ??= deps.client();
    const attached = await deps.find(name);
    const client = await connectClient(attached.file, name);
    attached.lost.addEventListener("abort", () => onLost(attached.loss()), { once: true });
    return { client, attached };
  }

  /** A daemon that said why it leaves is left alone until it is needed; one that died is started again at once. */
  function onLost({ reason }: Loss): void {
    current = undefined;
    if (isClosed || reason !== undefined) return;
    const now = Date.now();
    restarts = [...restarts.filter((at) => now - at < eagerRestarts.perMs), now];
    if (restarts.length <= eagerRestarts.max) warm();
  }

  /** Nothing was sent yet, so a daemon that dies here is simply looked for again. */
  async function link(): Promise<Link> {
    for (let attempt = 1; attempt < attempts; attempt++) {
      const open = await tryLink().catch((error: unknown) => {
        if (error instanceof BridgeError) throw error;
        return undefined;
      });
      if (open && !open.attached.lost.aborted) return open;
    }
    return tryLink();
  }

  async function tryLink(): Promise<Link> {
    current ??= connect();
    const mine = current;
    try {
      return await mine;
    } catch (error) {
      if (current === mine) current = undefined;
      throw error;
    }
  }

  const warm = () => {
    link().catch(() => {});
  };

  async function callTool(call: ToolCall): Promise<CallToolResult> {
    // Every other call carries a key, so that after a loss the daemon itself can say what became of it.
    const key = deps.repeatable.has(call.name) ? undefined : (call.idempotency_key ?? ownKey(call));
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(await link(), call, key);
      } catch (error) {
        const failure = failureOf(error, call, key, attempt);
        if (failure) return failure;
      }
    }
  }

  return {
    warm,
    callTool,
    readResource: async (uri, signal) => (await link()).client.readResource({ uri }, { signal }),
    async close() {
      isClosed = true;
      const open = await current?.catch(() => undefined);
      await open?.client.close();
      open?.attached.close();
    },
  };
}

async function connectClient(file: DaemonFile, name: string): Promise<Client> {
  const client = new Client(
    { name: "labwright-bridge", version: file.version },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  const headers = daemonHeaders(file, name);
  await client.connect(
    new StreamableHTTPClientTransport(daemonUrl(file, "/mcp"), { requestInit: { headers } }),
  );
  return client;
}

/** A key among the arguments stays the caller's. */
const ownKey = (call: ToolCall): string | undefined =>
  "idempotency_key" in call.arguments ? undefined : randomUUID();

function send({ client, attached }: Link, call: ToolCall, key: string | undefined): Promise<CallToolResult> {
  const { progress } = call;
  const _meta = {
    ...(key !== undefined && { [idempotencyKeyMeta]: key }),
    ...(call.traceparent !== undefined && { traceparent: call.traceparent }),
  };
  return client
    .request(
      { method: "tools/call", params: { name: call.name, arguments: call.arguments, _meta } },
      {
        // An event stream that breaks does not end the SDK's call, which would wait for ever; the attachment tells.
        signal: AbortSignal.any([call.signal, attached.lost]),
        timeout: unlimited,
        ...(progress && { onprogress: (p) => progress(p.progress, p.total, p.message) }),
      },
    )
    .catch((error: unknown) => {
      throw attached.lost.aborted && !call.signal.aborted
        ? new DaemonLost("the daemon ended during the call")
        : error;
    });
}

/** The answer to give, or undefined to try again. Throws what is not ours to explain: cancellation, protocol errors. */
function failureOf(
  error: unknown,
  call: ToolCall,
  key: string | undefined,
  attempt: number,
): CallToolResult | undefined {
  if (error instanceof BridgeError) return failedResult(error);
  if (error instanceof SdkHttpError && error.status === 413) {
    return failedResult(
      new BridgeError(
        "INPUT_TOO_LARGE",
        `The arguments of ${call.name} are too large.`,
        "Send less at a time.",
      ),
    );
  }
  if (call.signal.aborted || !isLost(error)) throw error;
  if (attempt < attempts) return undefined;
  return failedResult(
    new BridgeError(
      "OUTCOME_UNKNOWN",
      `The daemon ended ${attempts} times during ${call.name}; whether it ran is not known.`,
      key === undefined
        ? "Call it again: a repeat changes nothing more."
        : "Look at the device first; then repeat it with this idempotency_key, which runs it at most once.",
      key === undefined ? {} : { idempotency_key: key },
    ),
  );
}

function isLost(error: unknown): boolean {
  if (error instanceof SdkError) {
    return error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.SendFailed;
  }
  return error instanceof TypeError || error instanceof DaemonLost;
}
