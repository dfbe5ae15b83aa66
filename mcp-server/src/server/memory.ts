import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "../services/index.ts";

/** A pause of this length counts as quiet. */
const quietMs = 1_000;
/** Memory that one collection frees is returned to the system by the next ones. */
const againMs = 400;
/** An idle daemon's heap has about half of it. */
const restingMb = 64;
const maxCollections = 4;

export type Heap = { megabytes(): number; collect(): void };
export type MemoryWatch = { touch(): void; stop(): void };

/**
 * Returns memory to the system after a quiet time: after a load V8 keeps its heap as large as it was (measured: 490 MB
 * resident, 340 after two collections of 50 ms each). No request waits for it.
 */
export function watchMemory(deps: { clock: Clock; heap: Heap; isBusy(): boolean }): MemoryWatch {
  let stopTimer = () => {};
  let isStopped = false;
  const lookLater = (collected: number) => {
    stopTimer();
    const ms = collected === 0 ? quietMs : againMs;
    if (!isStopped) stopTimer = deps.clock.setTimeout(() => check(collected), ms);
  };
  const check = (collected: number) => {
    if (deps.isBusy()) return lookLater(0);
    if (collected === maxCollections || deps.heap.megabytes() <= restingMb) return;
    deps.heap.collect();
    lookLater(collected + 1);
  };
  return {
    touch: () => lookLater(0),
    stop() {
      isStopped = true;
      stopTimer();
    },
  };
}

/** This thread's own heap. */
export function ownHeap(): Heap {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  return {
    megabytes: () => process.memoryUsage().heapTotal / 1_048_576,
    collect() {
      if (typeof collect === "function") collect();
    },
  };
}
