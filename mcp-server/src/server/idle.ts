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
  let touches = 0;
  const touch = () => {
    touches++;
    stopTimer();
    if (!isStopped) stopTimer = deps.clock.setTimeout(() => void look(), deps.idleMs);
  };
  async function look(): Promise<void> {
    const touchesBefore = touches;
    // What cannot be asked (a database that fails) is no reason to leave.
    const isBusy = await deps.isBusy().catch(() => true);
    // A bridge that connected during the look has started the time anew.
    if (isStopped || touches !== touchesBefore) return;
    if (isBusy) touch();
    else deps.onIdle();
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
