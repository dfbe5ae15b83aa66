import { describe, expect, it } from "vitest";
import { ownHeap, watchMemory } from "#mcp-server/server/memory.ts";
import { fakeClock } from "../fixtures/fakeClock.ts";

/** A heap of which each collection frees a half. */
function watched(megabytes: number, isBusy = () => false) {
  const clock = fakeClock();
  const heap = { size: megabytes, collections: 0 };
  const watch = watchMemory({
    clock,
    isBusy,
    heap: {
      megabytes: () => heap.size,
      collect() {
        heap.size /= 2;
        heap.collections += 1;
      },
    },
  });
  return { clock, heap, watch };
}

describe("a daemon's memory", () => {
  it("is given back when nothing was asked for a while, until it is as small as at rest", async () => {
    const { clock, heap, watch } = watched(300);
    watch.touch();
    await clock.advance(900);
    watch.touch();
    await clock.advance(999);
    expect(heap.collections).toBe(0);
    await clock.advance(10_000);
    expect(heap).toEqual({ size: 37.5, collections: 3 });
  });

  it("is left alone when it is small, while a call runs, and at the end", async () => {
    const small = watched(60);
    small.watch.touch();
    let busy = true;
    const working = watched(300, () => busy);
    working.watch.touch();
    const ended = watched(300);
    ended.watch.touch();
    ended.watch.stop();
    ended.watch.touch();
    for (const { clock } of [small, working, ended]) await clock.advance(10_000);
    expect([small, working, ended].map(({ heap }) => heap.collections)).toEqual([0, 0, 0]);
    busy = false;
    await working.clock.advance(10_000);
    expect(working.heap.collections).toBe(3);
  });

  it("is not collected for ever when it does not shrink", async () => {
    const { clock, heap, watch } = watched(3_000);
    watch.touch();
    await clock.advance(60_000);
    expect(heap.collections).toBe(4);
  });

  it("is really collected", () => {
    const heap = ownHeap();
    let rubbish: unknown[] | undefined = Array.from({ length: 1_000_000 }, (_, at) => ({ at }));
    const gone = new WeakRef(rubbish);
    expect(gone.deref()).toHaveLength(1_000_000);
    expect(heap.megabytes()).toBeGreaterThan(30);
    rubbish = undefined;
    return new Promise<void>((resolve) => {
      setImmediate(() => {
        heap.collect();
        expect(gone.deref()).toBeUndefined();
        resolve();
      });
    });
  });
});
