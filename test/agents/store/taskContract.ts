import { describe, expect, it } from "vitest";
import type { LabEvent } from "#mcp-server/agents/runtime/types.ts";
import type { TaskStore } from "#mcp-server/agents/store.ts";
import { names, second } from "./contract.ts";

export type TaskBench = { store: TaskStore; advance(ms: number): Promise<void> };
type Open = () => TaskBench;

const labEvent = (id: number, more: Partial<LabEvent> = {}): LabEvent => ({
  ...{
    id,
    type: "alert.blackscreen",
    priority: "critical",
    source: "test",
    payload: { kind: "blackscreen" },
  },
  at: "2026-01-01T00:00:00.000Z",
  ...more,
});

/** What every `TaskStore` does. `open` is called in each test. */
export function describeTasks(name: string, open: Open): void {
  describe(name, () => {
    describe("tasks", () => tasks(open));
    describe("claims of tasks", () => claims(open));
  });
}

function tasks(open: Open): void {
  it("are of one key once for an agent, and of the same key for another agent too", async () => {
    const { store } = open();
    const { agent } = names();
    const task = { agent, key: "event 1", priority: "normal", event: labEvent(1) } as const;
    expect(await store.addTask(task)).toBe(true);
    expect(await store.addTask({ ...task, priority: "critical" })).toBe(false);
    expect(await store.addTask({ ...task, agent: `${agent} 2` })).toBe(true);
    expect(await store.tasks({ agent, limit: 10 })).toEqual([
      {
        ...task,
        ...{ id: expect.any(Number), state: "pending", attempts: 0 },
        ...{ session_id: null, finding: null, error: null },
        ...{ created_at: expect.any(String), updated_at: expect.any(String) },
      },
    ]);
  });

  it("refuses events over 2 MB and findings over 256 KB", async () => {
    const { store } = open();
    const { agent } = names();
    const payload = { text: "x".repeat(262_144) };
    const large = labEvent(1, { payload: { text: "x".repeat(2 * 1_048_576) } });
    const task = { agent, key: "k", priority: "normal", event: labEvent(1, { payload }) } as const;
    const tooLarge = { code: "INPUT_TOO_LARGE" };
    await expect(store.addTask({ ...task, event: large })).rejects.toMatchObject(tooLarge);
    await store.addTask(task);
    const claimed = await store.claimTask(agent, { holder: "a", ttl_ms: second, max_parallel: 99 });
    const found = store.updateTask(claimed?.id ?? 0, { finding: payload }, { holder: "a" });
    await expect(found).rejects.toMatchObject(tooLarge);
    expect((await store.tasks({ agent, limit: 1 }))[0]?.finding).toBeNull();
  });

  it("are one when twenty add the same at once", async () => {
    const { store } = open();
    const { agent } = names();
    const task = { agent, key: "same", priority: "high", event: labEvent(1) } as const;
    const added = await Promise.all(Array.from({ length: 20 }, () => store.addTask(task)));
    expect(added.filter(Boolean)).toHaveLength(1);
  });

  it("are listed newest first, by agent and state", async () => {
    const { store } = open();
    const { agent } = names();
    for (const key of ["a", "b", "c"])
      await store.addTask({ agent, key, priority: "normal", event: labEvent(1) });
    const claimed = await store.claimTask(agent, { holder: "w", ttl_ms: second, max_parallel: 99 });
    expect(claimed?.key).toBe("a");
    const keys = async (filter: { state?: "pending" | "running"; limit: number }) =>
      (await store.tasks({ agent, ...filter })).map(({ key }) => key);
    expect(await keys({ limit: 10 })).toEqual(["c", "b", "a"]);
    expect(await keys({ limit: 1 })).toEqual(["c"]);
    expect(await keys({ state: "pending", limit: 10 })).toEqual(["c", "b"]);
    expect(await keys({ state: "running", limit: 10 })).toEqual(["a"]);
  });
}

function claims(open: Open): void {
  const add = async (store: TaskStore, agent: string, all: Record<string, LabEvent["priority"]>) => {
    for (const [key, priority] of Object.entries(all))
      await store.addTask({ agent, key, priority, event: labEvent(1, { priority }) });
  };

  it("go by urgency, then age", async () => {
    const { store } = open();
    const { agent } = names();
    const wanted = {
      n1: "normal",
      h1: "high",
      c1: "critical",
      n2: "normal",
      c2: "critical",
      h2: "high",
    } as const;
    await add(store, agent, wanted);
    const order: (string | undefined)[] = [];
    for (const _ of Object.keys(wanted))
      order.push((await store.claimTask(agent, { holder: "w", ttl_ms: second, max_parallel: 99 }))?.key);
    expect(order).toEqual(["c1", "c2", "h1", "h2", "n1", "n2"]);
    expect(await store.claimTask(agent, { holder: "w", ttl_ms: second, max_parallel: 99 })).toBeUndefined();
    expect(
      await store.claimTask(`${agent} 2`, { holder: "w", ttl_ms: second, max_parallel: 99 }),
    ).toBeUndefined();
  });

  it("give each of ten who ask at once another task", async () => {
    const { store } = open();
    const { agent } = names();
    await add(
      store,
      agent,
      Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`t${i}`, "normal"] as const)),
    );
    const claimed = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        store.claimTask(agent, { holder: `w${i}`, ttl_ms: second, max_parallel: 99 }),
      ),
    );
    const keys = claimed.flatMap((task) => task?.key ?? []);
    expect(keys.sort()).toEqual(["t0", "t1", "t2", "t3", "t4", "t5", "t6"]);
  });

  it("are no more at once than may run, of all holders together", async () => {
    const { store, advance } = open();
    const { agent } = names();
    await add(store, agent, { a: "normal", b: "normal", c: "normal", d: "normal" });
    const claim = (holder: string) =>
      store.claimTask(agent, { holder, ttl_ms: 10 * second, max_parallel: 2 });
    const claimed = await Promise.all(Array.from({ length: 10 }, (_, i) => claim(`w${i}`)));
    expect(claimed.flatMap((task) => task?.key ?? []).sort()).toEqual(["a", "b"]);
    const at = claimed.findIndex((task) => task?.key === "a");
    await store.updateTask(claimed[at]?.id ?? 0, { state: "done" }, { holder: `w${at}` });
    expect((await claim("x"))?.key).toBe("c");
    expect(await claim("x")).toBeUndefined();
    // A holder that is gone keeps no one from its place.
    await advance(10 * second);
    expect((await claim("y"))?.key).toBe("b");
  });

  it("wait for a pause, which takes no other task's place", async () => {
    const { store, advance } = open();
    const { agent } = names();
    await add(store, agent, { failed: "critical", next: "normal" });
    const claim = () => store.claimTask(agent, { holder: "a", ttl_ms: 60 * second, max_parallel: 1 });
    const { id = 0 } = (await claim()) ?? {};
    await store.updateTask(id, { state: "pending", error: "not now" }, { holder: "a", ttl_ms: 5 * second });
    const next = await claim();
    expect(next?.key).toBe("next");
    await store.updateTask(next?.id ?? 0, { state: "done" }, { holder: "a" });
    expect(await claim()).toBeUndefined();
    await advance(5 * second);
    expect(await claim()).toMatchObject({ id, attempts: 2, error: "not now" });
  });

  it("pass to another when the holder's time is over, with what was found", async () => {
    const { store, advance } = open();
    const { agent } = names();
    await add(store, agent, { only: "critical" });
    const first = await store.claimTask(agent, { holder: "a", ttl_ms: 10 * second, max_parallel: 99 });
    expect(first).toMatchObject({ state: "running", attempts: 1, event: { type: "alert.blackscreen" } });
    const id = first?.id ?? 0;
    const finding = { cause: "cable", nul: "\u0000", b: 1, a: 2 };
    expect(
      await store.updateTask(id, { session_id: "s1", finding }, { holder: "a", ttl_ms: 20 * second }),
    ).toBe(true);
    await advance(19 * second);
    expect(await store.claimTask(agent, { holder: "b", ttl_ms: second, max_parallel: 99 })).toBeUndefined();
    await advance(second);
    const again = await store.claimTask(agent, { holder: "b", ttl_ms: 10 * second, max_parallel: 99 });
    expect(again).toMatchObject({ id, attempts: 2, session_id: "s1", finding });
    expect(Object.keys(again?.finding ?? {})).toEqual(Object.keys(finding));
    expect(await store.updateTask(id, { state: "done" }, { holder: "a" })).toBe(false);
    expect(await store.updateTask(id, { state: "done" }, { holder: "b" })).toBe(true);
    await advance(86_400 * second);
    expect(await store.claimTask(agent, { holder: "c", ttl_ms: second, max_parallel: 99 })).toBeUndefined();
  });

  it("are ended by their holder, also when the answer to it was lost and it says so again", async () => {
    const { store } = open();
    const { agent } = names();
    await add(store, agent, { failing: "normal" });
    const { id = 0 } =
      (await store.claimTask(agent, { holder: "a", ttl_ms: second, max_parallel: 99 })) ?? {};
    const end = { state: "failed", error: "the device is gone" } as const;
    expect(await store.updateTask(id, end, { holder: "a" })).toBe(true);
    expect(await store.updateTask(id, end, { holder: "a" })).toBe(true);
    expect(await store.tasks({ agent, state: "failed", limit: 1 })).toMatchObject([end]);
    expect(await store.updateTask(id + 1_000_000, end, { holder: "a" })).toBe(false);
  });

  it("are cancelled by anyone until they end, and their holder changes nothing more", async () => {
    const { store } = open();
    const { agent } = names();
    await add(store, agent, { running: "high", pending: "normal" });
    const by = { holder: "a", ttl_ms: 60 * second, max_parallel: 1 };
    const running = (await store.claimTask(agent, by))?.id ?? 0;
    const pending = (await store.findTask(agent, "pending"))?.id ?? 0;
    expect([await store.cancelTask(running, "no"), await store.cancelTask(pending, "no")]).toEqual([
      true,
      true,
    ]);
    expect(await store.updateTask(running, {}, by)).toBe(false);
    expect(await store.claimTask(agent, by)).toBeUndefined();
    expect(await store.cancelTask(running, "again")).toBe(false);
    const end = { state: "cancelled", error: "no" };
    expect(await store.tasks({ agent, limit: 9 })).toMatchObject([end, end]);
    expect(await store.hasOpenTask(agent)).toBe(false);
  });

  it("begin anew for one that is given back", async () => {
    const { store } = open();
    const { agent } = names();
    await add(store, agent, { later: "normal" });
    const { id = 0 } =
      (await store.claimTask(agent, { holder: "a", ttl_ms: second, max_parallel: 99 })) ?? {};
    await store.updateTask(id, { state: "pending", error: "not now" }, { holder: "a" });
    expect(await store.claimTask(agent, { holder: "b", ttl_ms: second, max_parallel: 99 })).toMatchObject({
      id,
      attempts: 2,
      error: "not now",
    });
  });
}
