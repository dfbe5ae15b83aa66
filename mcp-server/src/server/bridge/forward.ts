import { randomUUID } from "node:crypto";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Backend, ToolCall } from "../mcp/backend.ts";
import { BridgeError, failedResult } from "./bridgeError.ts";
import { type Attached, DaemonLost, type Loss } from "./link.ts";

const attempts = 3;
/** A daemon that keeps dying is not started again and again without a call that wants it. */
const eagerRestarts = { max: 3, perMs: 60_000 };

export type Forward = Backend & {
  /** Finds or starts the daemon ahead of the first call; a failure is returned by the first call. */
  warm(): void;
  close(): Promise<void>;
};

export function createForward(deps: {
  /** Tools that may be sent again without a key. */
  repeatable: ReadonlySet<string>;
  /** This bridge's name to the daemon; asked once, at the first link. */
  client: () => string;
  find(client: string): Promise<Attached>;
}): Forward {
  let current: Promise<Attached> | undefined;
  let name: string | undefined;
  let isClosed = false;
  let restarts: number[] = [];
  const watches = createWatches(() => link());

  async function connect(): Promise<Attached> {
    name ??= deps.client();
    const attached = await deps.find(name);
    attached.lost.addEventListener("abort", () => onLost(attached.loss()), { once: true });
    watches.resume(attached);
    return attached;
  }

  /** A daemon that said why it leaves is left alone until it is needed; one that died is started again at once. */
  function onLost({ reason }: Loss): void {
    current = undefined;
    if (isClosed || reason !== undefined) return;
    const now = performance.now();
    restarts = [...restarts.filter((at) => now - at < eagerRestarts.perMs), now];
    if (restarts.length <= eagerRestarts.max) warm();
  }

  /** Nothing was sent yet, so a daemon that dies here is simply looked for again. */
  async function link(): Promise<Attached> {
    for (let attempt = 1; attempt < attempts; attempt++) {
      const open = await tryLink().catch((error: unknown) => {
        if (error instanceof BridgeError) throw error;
        return undefined;
      });
      if (open && !open.lost.aborted) return open;
    }
    return tryLink();
  }

  async function tryLink(): Promise<Attached> {
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

  return {
    warm,
    callTool: (call) => callUntilKnown(call, deps.repeatable, link),
    readResource: async (uri, signal) => (await link()).readResource(uri, signal),
    complete: async (asked) => (await link()).complete(asked),
    listed: async () => (await link()).listed(),
    skills: async () => (await link()).skills(),
    watch: watches.watch,
    async close() {
      isClosed = true;
      const open = await current?.catch(() => undefined);
      open?.close();
    },
  };
}

async function callUntilKnown(
  call: ToolCall,
  repeatable: ReadonlySet<string>,
  link: () => Promise<Attached>,
): Promise<CallToolResult> {
  // Every other call carries a key, so that after a loss the daemon itself can say what became of it.
  const key = repeatable.has(call.name) ? undefined : (call.idempotency_key ?? ownKey(call));
  for (let attempt = 1; ; attempt++) {
    try {
      const daemon = await link();
      return await daemon.callTool({ ...call, idempotency_key: key });
    } catch (error) {
      const failure = failureOf(error, call, key, attempt);
      if (failure) return failure;
    }
  }
}

/** A key among the arguments stays the caller's. */
const ownKey = (call: ToolCall): string | undefined =>
  "idempotency_key" in call.arguments ? undefined : randomUUID();

/** The answer to give, or undefined to try again. Throws what is not ours to explain: cancellation, protocol errors. */
function failureOf(
  error: unknown,
  call: ToolCall,
  key: string | undefined,
  attempt: number,
): CallToolResult | undefined {
  if (error instanceof BridgeError) return failedResult(error);
  if (call.signal.aborted || !(error instanceof DaemonLost)) throw error;
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

type Watch = { uri: string; changed: () => void; stop: () => void };

/** The addresses that a bridge's host watches, at whichever daemon the bridge is linked to. */
function createWatches(link: () => Promise<Attached>) {
  const watches = new Set<Watch>();
  return {
    async watch(uri: string, changed: () => void): Promise<() => void> {
      const one: Watch = { uri, changed, stop: await (await link()).watch(uri, changed) };
      watches.add(one);
      return () => {
        watches.delete(one);
        one.stop();
      };
    },
    /** Goes on at the next daemon, which sends at once what came since: the cursor is in the address. */
    resume(daemon: Attached): void {
      for (const one of watches) {
        daemon.watch(one.uri, one.changed).then(
          (stop) => {
            one.stop = stop;
            if (!watches.has(one)) stop();
          },
          // This daemon is gone already; the next one is asked again.
          () => {},
        );
      }
    },
  };
}
