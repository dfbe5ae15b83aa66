import type { Clock } from "../services/index.ts";

export type IdleWatch = { touch(): void; stop(): void };

/** Calls `onIdle` after `idleMs` without a touch, if nothing is open. Otherwise the time starts again. */
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
    if (!isStopped) stopTimer = deps.clock.setTimeout(() => void check(), deps.idleMs);
  };
  async function check(): Promise<void> {
    const touchesBefore = touches;
    // A failure to ask (of the database, say) is not a reason to leave.
    const isBusy = await deps.isBusy().catch(() => true);
    // A bridge that connected meanwhile has restarted the time.
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
