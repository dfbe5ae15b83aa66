import { type DeviceFinding, defineCommand, defineFactory, type FindingKind } from "@labwright/controllers";
import { sql } from "drizzle-orm";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { createInputs } from "#mcp-server/services/devices/inputs.ts";
import type { DeviceService } from "#mcp-server/services/index.ts";
import { type AlertService, createAlerts } from "#mcp-server/services/lab/alerts/index.ts";
import { createWatching, type Watching } from "#mcp-server/services/lab/watching/index.ts";
import { createEvents } from "#mcp-server/services/records/events.ts";
import { eventRows, type Storage } from "#mcp-server/storage/index.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { simulatedDevices, testSecrets } from "../../../fixtures/simulated.ts";

const clock = fakeClock();

/** A box that finds what the test says, and reports it anew to whoever begins to listen. */
function findingBox() {
  const listeners = new Set<(finding: DeviceFinding) => void>();
  const going = new Map<FindingKind, DeviceFinding>();
  const box = { alive: false, opened: 0, refuses: false };
  const inputs = createInputs(clock);
  const factory = defineFactory({
    ...{ name: "finding", kinds: ["remote"], settings: z.unknown(), offers: () => [] },
    create: () => [
      {
        ...{ kind: "remote", checks: [], noticesAfter: () => [] },
        commands: [
          defineCommand({
            ...{ name: "press_key", description: "Press a key", effect: "write" },
            input: z.strictObject({ key: z.string() }),
            run: async ({ key }) => ({ message: `pressed ${key}` }),
          }),
        ],
        async open() {
          box.opened += 1;
          if (box.refuses) throw new Error("nobody answers");
          box.alive = true;
        },
        async close() {
          box.alive = false;
        },
        isAlive: () => box.alive,
        findings: {
          kinds: ["blackscreen", "freeze"],
          onFinding(listener) {
            listeners.add(listener);
            for (const finding of going.values()) listener(finding);
            return () => void listeners.delete(listener);
          },
        },
      },
    ],
  });
  const tell = (kind: FindingKind, state: DeviceFinding["state"], picture?: string) => {
    const finding: DeviceFinding = {
      ...{ kind, state, at: clock.monotonic(), facts: { level: 3 } },
      ...(picture !== undefined && {
        frame: {
          ...{ mimeType: "image/png", bytes: Buffer.from(picture), width: 1, height: 1 },
          ...{ rotation: 0, takenAt: new Date(clock.now()).toISOString() },
        },
      }),
    };
    if (state === "began") going.set(kind, finding);
    else going.delete(kind);
    for (const listener of listeners) listener(finding);
  };
  return { box, inputs, factory: inputs.noting(factory), listeners, tell };
}

describeEachDatabase("watching", (open) => {
  let storage: Storage;
  let alerts: AlertService;
  let devices: DeviceService;
  let watching: Watching;
  let faults: string[];
  let lab: ReturnType<typeof findingBox>;
  beforeAll(async () => {
    storage = await open();
  });
  beforeEach(async () => {
    await storage.db.execute(sql`truncate alerts, events`);
    faults = [];
    lab = findingBox();
    watching = watchWith(["box"]);
    await watching.start();
    await expect.poll(() => lab.listeners.size).toBe(1);
  });
  afterEach(() => watching.close());

  function watchWith(watched: string[]): Watching {
    const { db, listen } = storage;
    devices = simulatedDevices({ names: ["box", "tv"], factories: [lab.factory], clock });
    const events = createEvents({ rows: eventRows(db), clock, secrets: testSecrets(), listen });
    alerts = createAlerts({ db, devices, events, secrets: testSecrets(), clock });
    return createWatching({
      ...{ host: "lab", watched, devices, alerts, clock, inputs: lab.inputs },
      thresholds: { pendingMs: 5_000, activeMs: 30_000, settleMs: 10_000 },
      artifacts: {
        put: async (bytes, mime_type) => {
          const sha256 = Buffer.from(bytes).toString();
          return { uri: `artifact://${sha256}`, sha256, mime_type, bytes: bytes.length };
        },
      },
      screen: { capture: async () => undefined },
      onFault: (error) => faults.push(String(error)),
    });
  }
  const all = async () => (await alerts.list({ maxTokens: 50_000 })).alerts;
  const states = async () => (await all()).map(({ kind, state }) => [kind, state]);
  const told = async () =>
    (await eventRows(storage.db).read({ after: 0, limit: 100 })).map(({ type }) => type);
  const press = async (key: string) => {
    const { device, done } = await devices.acquire({ device_id: "box" }, callContext(), { drives: true });
    const [controller] = [...device.controllers.values()];
    await controller?.commands[0]?.run({ key }, new AbortController().signal, device.fence);
    done();
  };

  it("a finding is pending after 5 s, active after 30 s with its first picture, resolved with its last", async () => {
    const began = new Date(clock.now()).toISOString();
    lab.tell("blackscreen", "began", "first");
    await clock.advance(4_999);
    expect(await all()).toEqual([]);
    await clock.advance(1);
    await expect.poll(all).toMatchObject([{ state: "pending", started_at: began }]);
    expect(await told()).toEqual([]);
    await clock.advance(25_000);
    await expect.poll(all).toMatchObject([
      {
        ...{ kind: "blackscreen", state: "active", device_id: "lab/box", source: "watching" },
        ...{ message: "blackscreen for 30 s", start_frame: "artifact://first", started_at: began },
      },
    ]);
    lab.tell("blackscreen", "ended", "last");
    await expect.poll(all).toMatchObject([{ state: "resolved", end_frame: "artifact://last" }]);
    expect(await told()).toEqual(["alert.blackscreen", "alert.resolved"]);
    expect(faults).toEqual([]);
  });

  it("one that is over before is none", async () => {
    lab.tell("freeze", "began");
    await clock.advance(4_000);
    lab.tell("freeze", "ended");
    await clock.advance(60_000);
    expect(await all()).toEqual([]);
  });

  it("a higher kind covers a lower one, which counts anew when it is seen again", async () => {
    lab.tell("freeze", "began");
    await clock.advance(5_000);
    await expect.poll(states).toEqual([["freeze", "pending"]]);
    lab.tell("blackscreen", "began");
    await clock.advance(5_000);
    await expect.poll(states).toEqual([
      ["blackscreen", "pending"],
      ["freeze", "resolved"],
    ]);
    await clock.advance(60_000);
    lab.tell("blackscreen", "ended");
    await expect.poll(async () => (await states())[0]).toEqual(["blackscreen", "resolved"]);
    await clock.advance(4_999);
    expect(await states()).toHaveLength(2);
    await clock.advance(1);
    await expect.poll(async () => (await states())[0]).toEqual(["freeze", "pending"]);
  });

  it("what our own command switched off is not a finding, until another command", async () => {
    await press("POWER");
    lab.tell("blackscreen", "began");
    await clock.advance(600_000);
    expect(await all()).toEqual([]);
    await press("OK");
    await clock.advance(14_999);
    expect(await all()).toEqual([]);
    await clock.advance(1);
    await expect.poll(states).toEqual([["blackscreen", "pending"]]);
  });

  it("a device that died is opened again, ever more seldom, and what it reports then counts", async () => {
    lab.tell("blackscreen", "began", "first");
    await clock.advance(30_000);
    await expect.poll(states).toEqual([["blackscreen", "active"]]);
    Object.assign(lab.box, { alive: false, refuses: true });
    const before = lab.box.opened;
    await clock.advance(5_000 + 1_000 + 2_000 + 4_000);
    await expect.poll(() => lab.box.opened - before).toBe(4);
    expect(faults).toHaveLength(1);
    expect(await states()).toEqual([["blackscreen", "active"]]);
    lab.tell("blackscreen", "ended");
    lab.box.refuses = false;
    await clock.advance(8_000);
    await expect.poll(() => lab.listeners.size).toBe(1);
    expect(await states()).toEqual([["blackscreen", "active"]]);
    await clock.advance(5_000);
    await expect.poll(states).toEqual([["blackscreen", "resolved"]]);
  });

  it("is not closed for being idle, and ends with the server", async () => {
    await clock.advance(3_600_000);
    expect(lab.box).toMatchObject({ alive: true, opened: 1 });
    expect(watching.count()).toBe(1);
    await watching.close();
    expect(lab.listeners.size).toBe(0);
    await clock.advance(1_200_000);
    expect(lab.box.alive).toBe(false);
  });

  it("after a restart goes on with an alert, resolves one that is over, and says of which no one watches", async () => {
    lab.tell("blackscreen", "began", "first");
    await clock.advance(30_000);
    await expect.poll(states).toEqual([["blackscreen", "active"]]);
    await watching.close();
    watching = watchWith(["box"]);
    await watching.start();
    await expect.poll(() => lab.listeners.size).toBe(1);
    await clock.advance(30_000);
    await expect.poll(states).toEqual([["blackscreen", "active"]]);
    await watching.close();
    lab.tell("blackscreen", "ended");
    watching = watchWith(["box"]);
    await watching.start();
    await expect.poll(() => lab.listeners.size).toBe(1);
    await clock.advance(5_000);
    await expect.poll(states).toEqual([["blackscreen", "resolved"]]);
    lab.tell("freeze", "began", "still");
    await clock.advance(30_000);
    await expect.poll(async () => (await states())[0]).toEqual(["freeze", "active"]);
    await watching.close();
    watching = watchWith([]);
    await watching.start();
    expect((await all())[0]).toMatchObject({
      ...{ kind: "freeze", state: "resolved", start_frame: "artifact://still" },
      message: expect.stringContaining("this device is no longer watched since"),
    });
  });
});
