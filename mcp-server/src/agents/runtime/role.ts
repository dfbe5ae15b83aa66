import type { RuntimeDeps } from "./types.ts";
import { messageOf, repeat, rest } from "./waiting.ts";

/** One process for each database does the agents' work. */
const role = "agents";
const ttlMs = 20_000;
const renewMs = 5_000;
/** So often one that has not got the role asks for it. */
const askMs = 2_500;

type RoleDeps = Pick<RuntimeDeps, "store" | "clock" | "holder" | "log">;

/** Runs `work` while this process has the role, with a signal that aborts when it is lost; again when it comes back. */
export async function whileInRole(
  deps: RoleDeps,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { store, clock, holder, log } = deps;
  await repeat(
    async () => {
      const until = clock.now() + ttlMs;
      if (!(await store.holdRole(role, { holder, ttl_ms: ttlMs }))) return rest(clock, askMs, signal);
      log({ level: "info", text: "This process does the agents' work." });
      await inRole(deps, signal, until, work);
    },
    {
      clock,
      signal,
      restMs: askMs,
      onFault: (error) => log({ level: "warn", text: `The role of the agents: ${messageOf(error)}` }),
    },
  );
  await store.letGoRole(role, holder).catch((error: unknown) => {
    log({ level: "warn", text: `The role of the agents was not given back: ${messageOf(error)}` });
  });
}

async function inRole(
  deps: RoleDeps,
  signal: AbortSignal,
  until: number,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const lost = new AbortController();
  const held = AbortSignal.any([signal, lost.signal]);
  const renewing = renew(deps, held, until).then(() =>
    lost.abort(new Error("The role of the agents was lost.")),
  );
  try {
    await work(held);
  } finally {
    lost.abort();
    await renewing;
  }
}

/** Ends when another has the role, or when it could not be renewed for so long that another may have it. */
async function renew(
  { store, clock, holder, log }: RoleDeps,
  held: AbortSignal,
  until: number,
): Promise<void> {
  let end = until;
  while (!held.aborted) {
    await rest(clock, renewMs, held);
    if (held.aborted) return;
    const next = clock.now() + ttlMs;
    const answer = await store.holdRole(role, { holder, ttl_ms: ttlMs }).catch(() => undefined);
    if (answer === true) end = next;
    else if (answer === false || clock.now() >= end - renewMs) {
      log({ level: "warn", text: "Another process does the agents' work now." });
      return;
    }
  }
}
