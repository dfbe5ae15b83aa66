import { expect, test, vi } from "vitest";
import { agent, fine, openServer } from "./taskLab.ts";

test("ten that come at once are done by their urgency, then by their age", async () => {
  const lab = openServer();
  for (const type of [
    "normal",
    "high",
    "normal",
    "critical",
    "normal",
    "high",
    "critical",
    "normal",
    "critical",
    "high",
  ])
    lab.happens(`test.${type}`);
  await lab.begin();
  await lab.untilDone(10);
  expect(lab.reported()).toEqual([4, 7, 9, 2, 6, 10, 1, 3, 5, 8]);
});

test("an urgent one that comes while another is worked on is next", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const lab = openServer(async (use, signal) => {
    if (use.name === "list_hosts" && lab.reported().length === 0) await held;
    return fine(use, signal);
  });
  await lab.begin();
  lab.happens("test.normal");
  await lab.until(() => lab.calls.length === 1);
  lab.happens("test.normal");
  lab.happens("test.critical");
  await lab.until(async () => (await lab.tasks()).length === 3);
  release();
  await lab.untilDone(3);
  expect(lab.reported()).toEqual([1, 3, 2]);
});

/** A server whose calls take so many milliseconds, and how many of them were open at once at most. */
function counting(ms: number) {
  let open = 0;
  let most = 0;
  const lab = openServer(async (use, signal) => {
    open += 1;
    most = Math.max(most, open);
    await lab.clock.sleep(ms, signal);
    open -= 1;
    return fine(use, signal);
  });
  return { lab, most: () => most };
}

test("no more run at once than the agent may have", async () => {
  const { lab, most } = counting(50);
  for (let i = 0; i < 9; i++) lab.happens("test.normal");
  await lab.begin([agent({ max_parallel_tasks: 3 })]);
  await lab.untilDone(9, 20);
  expect(most()).toBe(3);
});

test("two processes on one database share the work: each task once, and no more at once than the agent may", async () => {
  const { lab, most } = counting(2_000);
  for (let i = 0; i < 12; i++) lab.happens("test.normal");
  const three = [agent({ max_parallel_tasks: 3 })];
  const both = [await lab.begin(three), await lab.begin(three)];
  await lab.untilDone(12);
  expect(lab.reported().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
  expect(most()).toBe(3);
  const done = both.flatMap(({ lines }) => lines.filter(({ text }) => text.endsWith("is done.")));
  expect(done).toHaveLength(12);
});

test("an event whose task was stored and whose cursor was not moved makes no second task", async () => {
  const lab = openServer();
  const done = vi.fn(lab.server.events.done).mockRejectedValueOnce(new Error("the server went away"));
  lab.happens("test.normal");
  lab.happens("test.high");
  await lab.begin([agent()], { events: { ...lab.server.events, done } });
  await lab.untilDone(2);
  await lab.until(() => lab.cursors.get("agent:watcher") === 2);
  expect(done.mock.calls.map(([, id]) => id)).toEqual([2, 2]);
  expect((await lab.tasks()).map(({ key }) => key)).toEqual(["event:1", "event:2"]);
  expect(lab.reported()).toHaveLength(2);
});

test("agents that are new to a lab do not answer what happened long before", async () => {
  const lab = openServer();
  lab.happens("test.normal");
  await lab.clock.advance(2 * 3_600_000);
  lab.happens("test.high");
  await lab.begin();
  await lab.untilDone(1);
  expect((await lab.tasks()).map(({ key }) => key)).toEqual(["event:2"]);
  expect(lab.cursors.get("agent:watcher")).toBe(2);
});

test("the cursor moves behind an event only when its task is stored", async () => {
  const lab = openServer();
  const addTask = vi.fn(lab.server.store.addTask).mockRejectedValueOnce(new Error("the server went away"));
  lab.happens("test.normal");
  await lab.begin([agent()], { store: { ...lab.server.store, addTask } });
  await lab.untilDone(1);
  expect(addTask).toHaveBeenCalledTimes(2);
  expect(lab.cursors.get("agent:watcher")).toBe(1);
});

test("an agent that is not enabled, or that people talk to, takes nothing", async () => {
  const lab = openServer();
  lab.happens("test.normal");
  const claimTask = vi.spyOn(lab.server.store, "claimTask");
  await lab.begin([agent({ enabled: false }), { ...agent(), mode: "interactive" }]);
  await lab.clock.advance(60_000);
  expect(await lab.tasks()).toEqual([]);
  expect(claimTask).not.toHaveBeenCalled();
});

test("events that concern no one make no task, and the cursor passes them", async () => {
  const lab = openServer();
  for (let i = 0; i < 150; i++) lab.happens("other.thing");
  await lab.begin();
  await lab.until(() => lab.cursors.get("agent:watcher") === 150);
  expect(await lab.tasks()).toEqual([]);
});

test("a schedule that cannot be kept is reported and stops nothing else", async () => {
  const lab = openServer();
  const odd = agent();
  const triggers = [
    ...odd.triggers,
    {
      event: "schedule.odd",
      priority: "normal",
      skill: "health-check",
      schedule: "61 * * * *",
      webhook: false,
    } as const,
  ];
  lab.happens("test.normal");
  const { lines } = await lab.begin([{ ...odd, triggers }]);
  await lab.untilDone(1);
  expect(lines).toContainEqual(
    expect.objectContaining({ level: "error", text: expect.stringContaining("schedule.odd") }),
  );
});
