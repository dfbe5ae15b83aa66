import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { startRuntime } from "#mcp-server/agents/runtime/startRuntime.ts";
import type { TaskStore } from "#mcp-server/agents/store.ts";
import { memoryTasks } from "../../fixtures/memoryStore/memoryTasks.ts";
import { agentClock, type Lab, openLab, type RuntimeServer, runtimeOn, shipped } from "./lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab("devices: [{ name: box, model: simulated }]");
});
afterAll(() => lab.end());

/** The step that stores what was found. */
const findingStored = 11;
const gone = () => new Promise<never>(() => {});

/**
 * A server that a process reaches until its `last` step, counted over tools and store; from then on nothing of it arrives
 * any more. `isAfter`: the step itself is done, and its answer lost.
 */
async function mortal(
  store: TaskStore,
  last: number,
  { isAfter, client }: { isAfter: boolean; client: string },
) {
  let steps = 0;
  const buried = new AbortController();
  const names: string[] = [];
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    steps += 1;
    if (steps === last) names.push(name);
    if (steps > last || (steps === last && !isAfter)) return gone();
    const result = await work();
    return steps >= last ? gone() : result;
  };
  const uncounted = <T>(work: () => Promise<T>): Promise<T> => (steps >= last ? gone() : work());
  const { toolbox, events } = await lab.server(undefined, client);
  const counted: RuntimeServer = {
    toolbox: {
      specs: toolbox.specs,
      call: (use, options) => step(use.name, () => toolbox.call(use, options)),
    },
    events: {
      ...events,
      read: async (range) => (buried.signal.aborted ? [] : events.read(range)),
      // What its own work reports comes whenever it comes, and concerns it no more.
      done: (consumer, id) => {
        const done = () => events.done(consumer, id);
        return steps === 1 ? step("done", done) : uncounted(done);
      },
    },
    store: {
      ...store,
      addTask: (task) => step("addTask", () => store.addTask(task)),
      claimTask: (...args) => uncounted(() => store.claimTask(...args)),
      updateTask(...args) {
        const what = Object.keys(args[1]).join();
        // Its renewals come with the time, not with its work.
        if (what === "") return uncounted(() => store.updateTask(...args));
        return step(`updateTask ${what}`, () => store.updateTask(...args));
      },
    },
  };
  return { server: counted, died: () => steps >= last, name: () => names[0], bury: () => buried.abort() };
}

const triaged = async (id: string) =>
  (await lab.events("alert.triaged")).filter(({ alert_id }) => alert_id === id);

/** Lets a process die at a step of its work on an alert, and another go on. False when it came to its end before. */
async function dieAt(last: number, isAfter: boolean): Promise<string | undefined> {
  const clock = agentClock("2026-03-01T12:10:00Z");
  const store = memoryTasks(clock);
  const id = await lab.alert("blackscreen", "box");
  const after = (await lab.product.events.latestId()) - 1;
  const from = (server: RuntimeServer): RuntimeServer => ({
    ...server,
    events: {
      ...server.events,
      cursor: async (consumer) => Math.max(after, await server.events.cursor(consumer)),
    },
  });
  const client = `agent/${randomUUID()}`;
  const first = await mortal(store, last, { isAfter, client });
  // It is never closed: a process that was killed closes nothing.
  startRuntime(
    runtimeOn(from(first.server), [shipped("monitor")], { clock, holder: `first/${randomUUID()}` }),
  );
  const isDone = async () => (await store.tasks({ limit: 1 }))[0]?.state === "done";
  await vi.waitFor(
    async () => {
      await clock.advance(20);
      expect(first.died() || (await isDone())).toBe(true);
    },
    { timeout: 30_000, interval: 5 },
  );
  const later: string[] = [];
  // As the next start of a server does, and the end of a client.
  await lab.product.services.devices.releaseClient(client);
  const second = startRuntime(
    runtimeOn(
      from({ ...(await lab.server(async ({ name }) => void later.push(name))), store }),
      [shipped("monitor")],
      {
        clock,
        holder: `second/${randomUUID()}`,
      },
    ),
  );
  await vi.waitFor(
    async () => {
      await clock.advance(250);
      expect(await isDone()).toBe(true);
    },
    { timeout: 30_000, interval: 5 },
  );
  await second.close();
  first.bury();
  const where = first.name();
  // What was stored is written as it is, never looked at anew.
  if (where !== undefined && last >= findingStored + Number(!isAfter))
    expect(later, `died at ${where}`).not.toContain("capture_screenshot");
  expect(await triaged(id), `died at ${where}`).toHaveLength(1);
  const state = (await lab.call("get_device_info", { device_id: "box" })).structured.state;
  expect(state, `died at ${where}`).toBe("free");
  await lab.call("update_alert", { alert_id: id, action: "resolve" });
  expect(z.array(z.unknown()).parse(await store.tasks({ limit: 10 }))).toHaveLength(1);
  return where;
}

test.each([
  ["before", false],
  ["after", true],
])(
  "an agent that dies %s any of its steps leaves one finding, and the device free",
  async (_, isAfter) => {
    const died: string[] = [];
    for (let last = 1; last < 40; last++) {
      const where = await dieAt(last, isAfter);
      if (where === undefined) break;
      died.push(where);
    }
    expect(died).toEqual([
      "addTask",
      "done",
      "list_alerts",
      "get_device_info",
      "capture_screenshot",
      "take_control",
      "get_device_info",
      "capture_screenshot",
      "get_device_info",
      "release_control",
      "updateTask finding",
      "list_alerts",
      "update_alert",
      "updateTask state,error",
    ]);
  },
  300_000,
);
