import type { Clock } from "../services/index.ts";

export type IdleWatch = { touch(): void; stop(): void };

/** Calls `onIdle` when nothing touched it for `idleMs` and nothing is open; what is open starts the time anew. */
export function watchIdle(deps: {
  clock: Clock;
  idleMs: number;
  isBusy(): Promise<boolean>;
  onIdle(): void;
}): IdleWatch {
  let stopTimer = () => {};
  let isStopped = false;
  const touch = () => {
    stopTimer();
    if (!isStopped) stopTimer = deps.clock.setTimeout(() => void look(), deps.idleMs);
  };
  async function look(): Promise<void> {
    // What cannot be asked (a database that fails) is no reason to leave.
    const isBusy = await deps.isBusy().catch(() => true);
    if (isBusy) touch();
    else if (!isStopped) deps.onIdle();
  }
  touch();
  return {
    touch,
    stop() {
      isStopped = true;
      stopTimer();
    },
  };
}
