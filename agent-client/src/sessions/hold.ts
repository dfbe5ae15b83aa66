import { AgentError } from "../errors.ts";
import type { AgentStore, HeldSession } from "../ports.ts";

/** How long the end of a process keeps others from its conversations. */
const holdMs = 20_000;
const renewMs = 5_000;

export type Held = HeldSession & { stop(): void; letGo(): Promise<void> };

/**
 * Keeps every other process from a conversation until `letGo` is called, or `stop` where what was stored last has let go.
 * `lost` hears when another has it all the same. Throws SESSION_BUSY when another has it now.
 */
export async function hold(
  store: AgentStore,
  { id, holder, lost }: { id: string; holder: string; lost(): void },
): Promise<Held> {
  const held = await store.hold(id, holder, holdMs);
  if (!held) throw busy(id);
  const renew = () => store.hold(id, holder, holdMs).then((isOurs) => isOurs || lost());
  const renewing = setInterval(() => void renew().catch(() => {}), renewMs);
  const stop = () => clearInterval(renewing);
  return {
    ...held,
    stop,
    async letGo() {
      stop();
      await store.letGo(id, holder).catch(() => {});
    },
  };
}

export const busy = (id: string) =>
  new AgentError(
    "SESSION_BUSY",
    `The conversation ${id} is at work on the message before.`,
    "Wait for its session_ended, interrupt it, or begin another conversation.",
  );
