import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { type LabIos, startLabIos } from "../lab/ios/index.ts";

vi.setConfig({ testTimeout: 60_000 });

const shop = { package: "dev.labwright.shop" };

let lab: LabIos;
let product: Product;
let client: TestClient;
beforeAll(async () => {
  lab = await startLabIos();
  const appium = `{ url: "${lab.url}", capabilities: { platformName: iOS } }`;
  product = await openProduct(
    `limits: { alert_pending_ms: 50, alert_active_ms: 100, alert_settle_ms: 1 }\ndevices:\n  - { name: iphone, model: ios_mobile, watch: true, controllers: { appium: ${appium} } }`,
  );
  client = await product.connect();
  await product.watching.start();
});
afterAll(async () => {
  await product?.dispose();
  await lab?.close();
});

test("an iPhone reports its sensors, apps and log by the tools that every device has", async () => {
  const actions = [{ command: "open_app", params: { app: shop } }];
  expect((await client.call("execute_device_action", { actions })).error).toBeUndefined();
  const sensors = await client.call("read_device_sensors", { sensors: ["battery", "accelerometer"] });
  expect(sensors.structured).toMatchObject({
    readings: [{ name: "battery.level", value: 80 }, { name: "battery.charging" }],
    absent: [{ name: "accelerometer", reason: expect.any(String) }],
  });
  const apps = await client.call("get_installed_apps", {});
  expect(apps.structured.apps).toContainEqual({ id: shop.package, name: "Lamp and Chair", version: "1.0" });
  const logs = await client.call("view_logs", { service: "iphone", text: shop.package });
  expect(logs.structured.lines).toContain("Bootstrap success!");
});

test("a recording of an iPhone has its screenshots", async () => {
  const { recording_id } = (await client.call("start_recording", { trace: false })).structured;
  const taken = () => lab.requests.filter(({ path }) => path.endsWith("/screenshot")).length;
  // The second one is asked for when the first one has been read.
  await vi.waitFor(() => expect(taken()).toBeGreaterThan(1), 10_000);
  const stopped = await client.call("stop_recording", { recording_id });
  expect(stopped.structured).toMatchObject({ ended: "stopped", frames: expect.any(Number) });
  expect(stopped.structured).not.toHaveProperty("lost");
});

test("a crash of an iPhone's app becomes one alert, with what the report says and a picture", async () => {
  const looks = () => lab.requests.filter(({ path }) => path.endsWith("/se/log")).length;
  lab.ui.start({ packageName: shop.package });
  const before = looks();
  await vi.waitFor(() => expect(looks()).toBeGreaterThan(before), 10_000);
  lab.ui.crash(shop.package, "no lamp");
  const crashes = async () => {
    const { alerts } = (await client.call("list_alerts", {})).structured;
    return Array.isArray(alerts) ? alerts.filter(({ kind }) => kind === "app_crash") : [];
  };
  await expect
    .poll(crashes, { timeout: 20_000 })
    .toMatchObject([
      { device_id: "lab/iphone", state: "active", start_frame: expect.stringMatching(/^artifact:/) },
    ]);
});
