import { sql } from "drizzle-orm";
import { beforeAll, beforeEach, expect, it } from "vitest";
import {
  type AlertDependencies,
  type AlertService,
  createAlerts,
  type OutsideEvent,
  type RaiseInput,
  type TriageAction,
} from "#mcp-server/services/lab/alerts/index.ts";
import { createEvents } from "#mcp-server/services/records/events.ts";
import { eventRows, type Storage } from "#mcp-server/storage/index.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { simulatedDevices, testSecrets } from "../../../fixtures/simulated.ts";

const seen = (more: Partial<RaiseInput> = {}): RaiseInput => ({
  kind: "blackscreen",
  state: "pending",
  message: "Black for 5 s",
  source: "monitor",
  device_id: "lab/box",
  ...more,
});
const anna = callContext({ principal: "anna" });

describeEachDatabase("the alert service", (open) => {
  let storage: Storage;
  let alerts: AlertService;
  let eventFault: Error | undefined;
  const clock = fakeClock();
  beforeAll(async () => {
    storage = await open();
    alerts = createAlerts(dependencies());
  });
  beforeEach(async () => {
    await storage.db.execute(sql`truncate alerts, events`);
    eventFault = undefined;
  });

  function dependencies(): AlertDependencies {
    const { db, listen } = storage;
    const outbox = createEvents({ rows: eventRows(db), clock, secrets: testSecrets(), listen });
    return {
      db,
      devices: simulatedDevices({ names: ["box", "tv"] }),
      secrets: testSecrets({ PIN: "4711-secret" }),
      clock,
      events: {
        append: async (tx, event) => {
          if (eventFault) throw eventFault;
          return outbox.append(tx, event);
        },
      },
    };
  }
  const told = () => eventRows(storage.db).read({ after: 0, limit: 100 });
  const toldTypes = async () => (await told()).map(({ type }) => type);
  const all = async () => (await alerts.list({ maxTokens: 50_000 })).alerts;
  const publish = (given: OutsideEvent) => alerts.publish(given, anna);

  it("an alert goes from pending to active to resolved, and has events from when it counts", async () => {
    const first = await alerts.raise(seen({ start_frame: "artifact://1", details: { level: 0.1 } }));
    expect(first).toMatchObject({ created: true, alert: { state: "pending" } });
    expect(await told()).toEqual([]);
    await clock.advance(30_000);
    const message = "Black for 30 s";
    const { alert, created } = await alerts.raise(
      seen({ state: "active", message, start_frame: "artifact://late" }),
    );
    expect(created).toBe(false);
    expect(alert).toMatchObject({
      id: first.alert.id,
      state: "active",
      message,
      start_frame: "artifact://1",
      details: { level: 0.1 },
      started_at: first.alert.started_at,
    });
    await alerts.raise(seen({ state: "active", message }));
    await clock.advance(5_000);
    await alerts.resolve(alert.id, { end_frame: "artifact://2" });
    expect(await all()).toMatchObject([
      { state: "resolved", end_frame: "artifact://2", resolved_at: new Date(clock.now()).toISOString() },
    ]);
    const about = { source: "monitor", device_id: "lab/box", alert_id: alert.id };
    expect(await told()).toMatchObject([
      { ...about, type: "alert.blackscreen", priority: "critical", payload: { message } },
      {
        ...about,
        type: "alert.resolved",
        payload: { was: "active", kind: "blackscreen", end_frame: "artifact://2" },
      },
    ]);
  });

  it("an alert never goes back: pending again leaves it active, and after its end another one opens", async () => {
    const { alert } = await alerts.raise(seen({ state: "active" }));
    const again = await alerts.raise(seen({ message: "Black again" }));
    expect(again).toMatchObject({ created: false, alert: { id: alert.id, state: "active" } });
    const ended = await alerts.resolve(alert.id);
    await clock.advance(1_000);
    expect(await alerts.resolve(alert.id, { end_frame: "artifact://late" })).toEqual(ended);
    const next = await alerts.raise(seen());
    expect(next.created).toBe(true);
    expect(next.alert.id).not.toBe(alert.id);
    expect(await toldTypes()).toEqual(["alert.blackscreen", "alert.resolved"]);
    await expect(alerts.resolve("nobody")).rejects.toMatchObject({ code: "ALERT_NOT_FOUND" });
  });

  it("twenty that raise the same at once make one alert and one event; other kinds and devices are others", async () => {
    await Promise.all(Array.from({ length: 20 }, () => alerts.raise(seen({ state: "active" }))));
    expect(await all()).toHaveLength(1);
    expect(await toldTypes()).toEqual(["alert.blackscreen"]);
    await alerts.raise(seen({ state: "active", device_id: "lab/tv" }));
    await alerts.raise(seen({ state: "active", device_id: undefined }));
    await alerts.raise(seen({ state: "active", kind: "audio_loss" }));
    expect(await all()).toHaveLength(4);
    expect((await told()).at(-1)).toMatchObject({ type: "alert.audio_loss", priority: "high" });
  });

  it("an alert is critical when the device is of no use", async () => {
    const kinds = ["blackscreen", "app_crash", "anr", "no_signal", "freeze", "macroblocks", "audio_loss"];
    for (const kind of [...kinds, "ci_failure"]) await alerts.raise(seen({ kind, state: "active" }));
    const priorities = (await told()).map(({ priority }) => priority);
    expect(priorities).toEqual([...Array(4).fill("critical"), ...Array(4).fill("high")]);
  });

  it("an alert and its event are there together or not at all", async () => {
    eventFault = new Error("no events");
    await expect(alerts.raise(seen({ state: "active" }))).rejects.toThrow("no events");
    await expect(publish({ alert: { kind: "freeze", message: "m" } })).rejects.toThrow("no events");
    expect(await all()).toEqual([]);
    const { alert } = await alerts.raise(seen());
    await expect(alerts.resolve(alert.id)).rejects.toThrow("no events");
    await expect(alerts.update({ alert_id: alert.id, action: "confirm" }, anna)).rejects.toThrow("no events");
    expect(await all()).toMatchObject([{ state: "pending" }]);
    expect((await all())[0]).not.toHaveProperty("triage");
  });

  it("a triage may be changed, also of a resolved alert, and says what it was before", async () => {
    const { alert } = await alerts.raise(seen());
    await alerts.resolve(alert.id);
    const triage = (action: TriageAction, reason?: string) =>
      alerts.update({ alert_id: alert.id, action, reason }, anna);
    const view = { alert_id: alert.id, kind: "blackscreen", state: "resolved" };
    expect(await triage("acknowledge")).toEqual({ ...view, triage: "acknowledged" });
    expect(await triage("discard", " standby ")).toEqual({
      ...view,
      triage: "discarded",
      before: "acknowledged",
    });
    expect(await all()).toMatchObject([{ triage: "discarded", triage_reason: "standby" }]);
    expect(await triage("confirm")).toMatchObject({ triage: "confirmed", before: "discarded" });
    expect((await all())[0]).not.toHaveProperty("triage_reason");
    const triages = (await told()).filter(({ type }) => type === "alert.triaged");
    expect(triages.map(({ payload }) => payload)).toEqual([
      { kind: "blackscreen", triage: "acknowledged", by: "anna" },
      { kind: "blackscreen", triage: "discarded", by: "anna", reason: "standby", before: "acknowledged" },
      { kind: "blackscreen", triage: "confirmed", by: "anna", before: "discarded" },
    ]);
  });

  it("the same triage once more changes nothing; another reason does", async () => {
    const { alert } = await alerts.raise(seen());
    const discard = (reason: string) =>
      alerts.update({ alert_id: alert.id, action: "discard", reason }, callContext({ principal: reason }));
    await discard("standby");
    await discard("standby");
    expect(await toldTypes()).toEqual(["alert.triaged"]);
    expect(await discard("menu")).toMatchObject({ triage: "discarded", before: "discarded" });
    expect(await toldTypes()).toEqual(["alert.triaged", "alert.triaged"]);
  });

  it("a triage needs an alert that is there, and a discard a reason", async () => {
    const { alert } = await alerts.raise(seen());
    for (const reason of [undefined, "", "  "]) {
      await expect(
        alerts.update({ alert_id: alert.id, action: "discard", reason }, anna),
      ).rejects.toMatchObject({ code: "INVALID_INPUT" });
    }
    const near = alerts.update({ alert_id: `${alert.id.slice(0, -1)}x`, action: "confirm" }, anna);
    await expect(near).rejects.toMatchObject({
      code: "ALERT_NOT_FOUND",
      hint: expect.stringContaining(alert.id),
      details: { nearest: [alert.id] },
    });
    await expect(alerts.update({ alert_id: "\u0000", action: "confirm" }, anna)).rejects.toMatchObject({
      code: "ALERT_NOT_FOUND",
    });
  });

  it("a list stays within its tokens and says how many are left", async () => {
    const kinds = Array.from({ length: 20 }, (_, i) => `kind_${i}`);
    for (const kind of kinds) {
      await clock.advance(1);
      await alerts.raise(seen({ kind, message: "a b c d ".repeat(20) }));
    }
    const { alerts: shown, more } = await alerts.list({ maxTokens: 1_000 });
    expect(shown.length).toBeGreaterThan(1);
    expect(shown.length + more).toBe(20);
    expect(more).toBeGreaterThan(0);
    expect(shown.map(({ kind }) => kind)).toEqual(kinds.toReversed().slice(0, shown.length));
    expect(await alerts.list({ kind: "kind_\u0000", maxTokens: 50 })).toEqual({ alerts: [], more: 0 });
    await expect(alerts.list({ since: "soon", maxTokens: 50 })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  });

  it("an event from outside is stored whole, its secrets masked and its text fit for the database", async () => {
    const payload = { note: "PIN 4711-secret", "k\u0000": ["\ud800", { log: "x".repeat(60_000) }], n: 1.5 };
    const reply = await publish({ type: "webhook.ci_failure", payload, device_id: "tv", priority: "high" });
    const events = await told();
    expect(events).toEqual([
      {
        id: expect.any(Number),
        type: "webhook.ci_failure",
        priority: "high",
        source: "anna",
        device_id: "lab/tv",
        payload: { note: "PIN [secret PIN]", "k\ufffd": ["\ufffd", { log: "x".repeat(60_000) }], n: 1.5 },
        at: new Date(clock.now()).toISOString(),
      },
    ]);
    expect(reply).toEqual({ event_id: events[0]?.id, type: "webhook.ci_failure" });
    await publish({ type: "build.deployed" });
    expect((await told()).at(-1)).toMatchObject({ priority: "normal", payload: {} });
  });

  it.each([
    "alert.x",
    "testcase.completed",
    "execution.analyzed",
    "deployment.x",
    "script.x",
    "navigation.x",
    "validation.x",
  ])("%s is told by the server only", async (type) => {
    await expect(publish({ type })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("reserved for the server"),
    });
    expect(await told()).toEqual([]);
  });

  it.each([
    "",
    "plain",
    "Build.deployed",
    "build.",
    ".build",
    "build deployed.x",
    "a.b\u0000",
    `a.${"b".repeat(999)}`,
  ])("%j is no type", async (type) => {
    await expect(publish({ type })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  it.each([
    "",
    "Black",
    "black-screen",
    "a__b",
    "resolved",
    "triaged",
    "x".repeat(61),
    "a\u0000",
  ])("%j is no kind of alert", async (kind) => {
    const given = { alert: { kind, message: "m" } };
    await expect(publish(given)).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect(await all()).toEqual([]);
  });

  it("an event too large or too deep is refused, and so are an unknown device, both at once, and nothing", async () => {
    const deep: Record<string, unknown> = {};
    let inner = deep;
    for (let i = 0; i < 20_000; i++) {
      const next: Record<string, unknown> = {};
      inner.a = next;
      inner = next;
    }
    for (const payload of [{ log: "x".repeat(66_000) }, { log: "\u2603".repeat(22_000) }, deep])
      await expect(publish({ type: "a.b", payload })).rejects.toMatchObject({ code: "INPUT_TOO_LARGE" });
    await expect(publish({ type: "a.b", device_id: "boxx" })).rejects.toMatchObject({
      code: "DEVICE_NOT_FOUND",
    });
    const alert = { kind: "freeze", message: "m" };
    for (const given of [{}, { payload: {} }, { type: "a.b", alert }, { alert, payload: {} }])
      await expect(publish(given)).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await expect(publish({ alert: { ...alert, device_id: "boxx" } })).rejects.toMatchObject({
      code: "DEVICE_NOT_FOUND",
      details: { nearest: expect.arrayContaining(["box"]) },
    });
    expect(await told()).toEqual([]);
  });

  it("an alert from outside is active at once, and joins the open one of its kind and device", async () => {
    const alert = { kind: "ci_failure", message: "Build 4711-secret broke", device_id: "box" };
    const reply = await publish({ alert });
    expect(reply).toEqual({
      alert_id: expect.any(String),
      kind: "ci_failure",
      state: "active",
      created: true,
    });
    expect(await publish({ alert })).toEqual({ ...reply, created: false });
    expect(await all()).toMatchObject([
      { device_id: "lab/box", source: "anna", message: "Build [secret PIN] broke" },
    ]);
    expect(await toldTypes()).toEqual(["alert.ci_failure"]);
    const pending = await alerts.raise(seen({ kind: "no_signal" }));
    const outside = await publish({ alert: { kind: "no_signal", message: "m", device_id: "box" } });
    expect(outside).toMatchObject({ alert_id: pending.alert.id, state: "active", created: false });
    expect(await toldTypes()).toEqual(["alert.ci_failure", "alert.no_signal"]);
  });
});
