import type { BrowserContext } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { StateKeeper } from "../../../controllers/src/web/storageState.ts";

type Reads = Pick<BrowserContext, "storageState">;
const state = (name: string) => ({ cookies: [], origins: [{ origin: name, localStorage: [] }] });

describe("what a restart of the browser gets back", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is read when the device is idle, at most once a second", async () => {
    const keeper = new StateKeeper();
    let reads = 0;
    const context: Reads = { storageState: async () => state(`read ${++reads}`) };
    keeper.noteChange(context, () => true);
    keeper.noteChange(context, () => true);
    await vi.advanceTimersByTimeAsync(300);
    expect(keeper.kept()).toEqual(state("read 1"));
    keeper.noteChange(context, () => true);
    await vi.advanceTimersByTimeAsync(500);
    expect(reads).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(keeper.kept()).toEqual(state("read 2"));
    keeper.stop();
  });

  it("is not read while the device acts", async () => {
    const keeper = new StateKeeper();
    let idle = false;
    keeper.noteChange({ storageState: async () => state("idle") }, () => idle);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(keeper.kept()).toBeUndefined();
    idle = true;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(keeper.kept()).toEqual(state("idle"));
    keeper.stop();
  });

  it("stays as it was when the context is gone, and gives way to a fresh start", async () => {
    const keeper = new StateKeeper();
    keeper.keep(state("saved"));
    keeper.noteChange({ storageState: () => Promise.reject(new Error("closed")) }, () => true);
    await vi.advanceTimersByTimeAsync(300);
    expect(keeper.kept()).toEqual(state("saved"));
    let answer: (value: ReturnType<typeof state>) => void = () => undefined;
    keeper.noteChange({ storageState: () => new Promise((resolve) => (answer = resolve)) }, () => true);
    await vi.advanceTimersByTimeAsync(2_000);
    keeper.keep(undefined);
    answer(state("of the former context"));
    await vi.advanceTimersByTimeAsync(0);
    expect(keeper.kept()).toBeUndefined();
  });
});
