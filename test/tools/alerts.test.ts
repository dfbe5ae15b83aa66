import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]", { PIN: "4711-secret" });
  client = await product.connect({ principal: "anna" });
});
afterAll(() => product.dispose());

const publish = (args: Record<string, unknown>) => client.call("publish_event", args);
const update = (args: Record<string, unknown>) => client.call("update_alert", args);
const list = async (args: Record<string, unknown> = {}) =>
  (await client.call("list_alerts", args)).structured;
const lastEvent = async () => (await product.events.read({ after: 0, limit: 1_000 })).at(-1);

test("publish_event stores an event that everybody hears of, without the secrets in it", async () => {
  const { structured } = await publish({
    type: "webhook.ci_failure",
    priority: "high",
    device_id: "box",
    payload: { job: "e2e", log: "PIN 4711-secret" },
  });
  expect(structured).toEqual({ event_id: expect.any(Number), type: "webhook.ci_failure" });
  expect(await lastEvent()).toMatchObject({
    id: structured.event_id,
    priority: "high",
    source: "anna",
    device_id: "lab/box",
    payload: { job: "e2e", log: "PIN [secret PIN]" },
  });
});

test("publish_event says why it refuses: our own names, a strange device, too much, an unknown argument", async () => {
  const refused: [Record<string, unknown>, string, string][] = [
    [{ type: "execution.analyzed" }, "INVALID_INPUT", "reserved for the server"],
    [{ type: "Deployed" }, "INVALID_INPUT", "dotted"],
    [{ type: "build.deployed", device_id: "boxx" }, "DEVICE_NOT_FOUND", "box"],
    [{ type: "build.deployed", payload: { log: "x".repeat(70_000) } }, "INPUT_TOO_LARGE", "65536"],
    [{ type: "build.deployed", payload: [] }, "INVALID_INPUT", "payload"],
    [{ type: "build.deployed", priority: "urgent" }, "INVALID_INPUT", "priority"],
    [{ type: "build.deployed", paylod: {} }, "INVALID_INPUT", "paylod is called payload"],
    [{ alert: { kind: "freeze" } }, "INVALID_INPUT", "alert.message"],
    [{ alert: { kind: "freeze", message: "m" }, type: "build.deployed" }, "INVALID_INPUT", "alone"],
    [{}, "INVALID_INPUT", "nothing to publish"],
  ];
  const before = await product.events.latestId();
  for (const [args, code, part] of refused) {
    const { error } = await publish(args);
    expect(error, JSON.stringify(args).slice(0, 100)).toMatchObject({ code });
    expect(error?.message).toContain(part);
  }
  expect(await product.events.latestId()).toBe(before);
});

test("list_alerts shows an alert from outside, update_alert triages it, and its filters follow", async () => {
  const { structured } = await publish({ alert: { kind: "no_signal", message: "HDMI 2", device_id: "box" } });
  expect(structured).toMatchObject({ kind: "no_signal", state: "active", created: true });
  const alert_id = z.string().parse(structured.alert_id);
  expect(await lastEvent()).toMatchObject({ type: "alert.no_signal", priority: "critical", alert_id });
  const shown = { alert_id, kind: "no_signal", state: "active", device_id: "lab/box", message: "HDMI 2" };
  expect(await list({ state: "active", device: "box", triage: "none" })).toMatchObject({ alerts: [shown] });

  expect((await update({ alert_id, action: "discard" })).error).toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("reason"),
  });
  const discarded = await update({ alert_id, action: "discard", reason: "cable was out" });
  expect(discarded.structured).toEqual({
    alert_id,
    kind: "no_signal",
    state: "active",
    triage: "discarded",
  });
  const confirmed = await update({ alert_id, action: "confirm" });
  expect(confirmed.structured).toMatchObject({ triage: "confirmed", before: "discarded" });
  expect(await lastEvent()).toMatchObject({ type: "alert.triaged", payload: { by: "anna" } });
  expect(await list({ triage: "none" })).toEqual({ alerts: [] });
  expect(await list({ triage: "confirmed", kind: "no_signal", since: "2020-01-01" })).toMatchObject({
    alerts: [{ alert_id, triage: "confirmed", triaged_by: "anna" }],
  });

  const over = { alert_id, kind: "no_signal", state: "resolved", triage: "confirmed" };
  for (const _ of ["once", "again"])
    expect((await update({ alert_id, action: "resolve" })).structured).toEqual(over);
  expect(await lastEvent()).toMatchObject({ type: "alert.resolved", alert_id, payload: { was: "active" } });
  const next = await publish({ alert: { kind: "no_signal", message: "HDMI 2", device_id: "box" } });
  expect(next.structured).toMatchObject({ created: true });
});

test("list_alerts and update_alert refuse what they do not know", async () => {
  expect((await client.call("list_alerts", { state: "open" })).error).toMatchObject({
    code: "INVALID_INPUT",
  });
  expect((await client.call("list_alerts", { since: "monday" })).error).toMatchObject({
    code: "INVALID_INPUT",
  });
  expect((await update({ alert_id: "nope", action: "confirm" })).error).toMatchObject({
    code: "ALERT_NOT_FOUND",
  });
  expect((await update({ alert_id: "nope", action: "forget" })).error).toMatchObject({
    code: "INVALID_INPUT",
  });
});

test("list_alerts says how many it does not show", async () => {
  for (let i = 0; i < 12; i++) await publish({ alert: { kind: `kind_${i}`, message: "m ".repeat(200) } });
  const { alerts, more } = z
    .object({ alerts: z.array(z.unknown()), more: z.int() })
    .parse(await list({ max_tokens: 500 }));
  const whole = z.object({ alerts: z.array(z.unknown()) }).parse(await list({ max_tokens: 50_000 }));
  expect(alerts.length).toBeGreaterThan(0);
  expect(alerts.length + more).toBe(whole.alerts.length);
});
