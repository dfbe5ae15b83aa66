import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { startRuntime } from "#mcp-server/agents/runtime/startRuntime.ts";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { type Lab, openLab, runtimeOn, shipped } from "./lab.ts";

vi.setConfig({ testTimeout: 120_000 });

const app = "dev.labwright.shop";
const within = { timeout: 30_000, interval: 50 };
let phones: AndroidLab;
let lab: Lab;

beforeAll(async () => {
  phones = await startAndroidLab({ devices: [{ persona: "phone" }] });
  const settings = `{ serial: "${phones.devices[0]?.serial}", adb_port: ${phones.adbPort} }`;
  lab = await openLab(
    [
      "limits: { alert_pending_ms: 50, alert_active_ms: 100, alert_settle_ms: 1 }",
      "devices:",
      `  - { name: phone, model: android_mobile, watch: true, controllers: { android: ${settings} } }`,
    ].join("\n"),
  );
  await lab.product.watching.start();
});
afterAll(async () => {
  await lab.end();
  await phones.close();
});

test("an app that crashes on a phone reaches the monitor once, which looks at the phone and gives it back", async () => {
  const runtime = startRuntime(runtimeOn(await lab.server(), [shipped("monitor")]));
  onTestFinished(() => runtime.close());
  const device = phones.devices[0]?.device;
  // The log is read from the moment in which someone listens.
  await expect
    .poll(() => device?.traffic.services.some((service) => service.includes("logcat")), within)
    .toBe(true);
  device?.ui.start({ packageName: app });
  device?.ui.crash(app, "java.lang.IllegalStateException: no lamp");

  const tasks = async () => (await lab.tasks()).filter(({ event }) => event.type === "alert.app_crash");
  await expect.poll(async () => (await tasks()).map(({ state }) => state), within).toEqual(["done"]);
  expect(await lab.events("alert.app_crash")).toHaveLength(1);
  expect(await lab.events("alert.triaged")).toHaveLength(1);
  const { structured } = await lab.call("list_alerts", { max_tokens: 20_000 });
  const alerts = z.array(z.looseObject({ kind: z.string() })).parse(structured.alerts);
  expect(alerts).toMatchObject([
    {
      kind: "app_crash",
      device_id: "lab/phone",
      triage: "acknowledged",
      triage_reason: expect.stringContaining("artifact://"),
    },
  ]);
  expect((await lab.call("get_device_info", { device_id: "phone" })).structured.state).toBe("free");
});
