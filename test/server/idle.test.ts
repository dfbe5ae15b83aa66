import { describe, expect, it } from "vitest";
import { watchIdle } from "#mcp-server/server/idle.ts";
import { fakeClock } from "../fixtures/fakeClock.ts";

function watched(isBusy: () => Promise<boolean>) {
  const clock = fakeClock();
  const idle: number[] = [];
  const watch = watchIdle({ clock, idleMs: 1_000, isBusy, onIdle: () => idle.push(clock.now()) });
  return { clock, idle, watch };
}

describe("an idle daemon", () => {
  it("leaves after its time without a touch, and once", async () => {
    const { clock, idle, watch } = watched(async () => false);
    await clock.advance(900);
    watch.touch();
    await clock.advance(999);
    expect(idle).toEqual([]);
    await clock.advance(1);
    expect(idle).toHaveLength(1);
    await clock.advance(10_000);
    expect(idle).toHaveLength(1);
  });

  it("stays while something is open, and counts anew from then", async () => {
    let busy = true;
    const { clock, idle } = watched(async () => busy);
    await clock.advance(5_500);
    busy = false;
    await clock.advance(400);
    expect(idle).toEqual([]);
    await clock.advance(100);
    expect(idle).toHaveLength(1);
  });

  it("stays when it is touched while it checks whether something is open", async () => {
    const checks: ((isBusy: boolean) => void)[] = [];
    const { clock, idle, watch } = watched(() => new Promise((answer) => checks.push(answer)));
    await clock.advance(1_000);
    watch.touch();
    checks[0]?.(false);
    await clock.advance(999);
    expect(idle).toEqual([]);
    await clock.advance(1);
    checks[1]?.(false);
    await clock.advance(0);
    expect(idle).toHaveLength(1);
  });

  it("stays when it cannot know", async () => {
    const { clock, idle } = watched(() => Promise.reject(new Error("the database is gone")));
    await clock.advance(10_000);
    expect(idle).toEqual([]);
  });

  it("is not asked to leave once it is ending", async () => {
    const { clock, idle, watch } = watched(async () => false);
    watch.stop();
    watch.touch();
    await clock.advance(10_000);
    expect(idle).toEqual([]);
    expect(clock.waiting()).toBe(0);
  });
});
