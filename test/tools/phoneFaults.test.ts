import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { driverProgram } from "../controllers/android/driverTraces.ts";
import { type AndroidLab, startAndroidLab } from "../fixtures/androidLab.ts";
import type { Reply, TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

vi.setConfig({ testTimeout: 120_000 });

const settings = "com.android.settings";
const file = Buffer.alloc(2_000_000, "labwright ");

let lab: AndroidLab;
let product: Product;
let client: TestClient;

/** At an address, so that whoever starts another adb server connects it again. */
beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
  const android = `{ address: "${lab.devices[0]?.serial}", adb_port: ${lab.adbPort}, backend: uiautomator2 }`;
  product = await openProduct(
    `devices: [{ name: phone, model: android_mobile, controllers: { android: ${android} } }]`,
  );
  const { uploads } = product.config.folders;
  await mkdir(uploads, { recursive: true });
  await writeFile(join(uploads, "big.bin"), file);
  client = await product.connect();
});
afterAll(async () => {
  await product.dispose();
  await lab.close();
});
beforeEach(async () => {
  expect((await act("open_app", { app: { package: settings } })).error).toBeUndefined();
});

const device = () => {
  const [one] = lab.devices;
  if (!one) throw new Error("The laboratory has no phone.");
  return one.device;
};
const act = (command: string, params: object): Promise<Reply> =>
  client.call("execute_device_action", { actions: [{ command, params }] });
const look = () => client.call("dump_ui_elements", { interactive_only: false });
const showsSettings = async () => expect((await look()).text).toContain("title: Settings");
const pictures = () => device().traffic.current.filter(({ service }) => service === "tcp:7810").length;
const lost = {
  code: "TRANSPORT_LOST",
  message: expect.stringContaining("Look at the screen; the next call connects again"),
};

describe("a connection that breaks", () => {
  test("in the middle of a push is TRANSPORT_LOST, and the next push is whole", async () => {
    device().faults.dropAfterBytes = 500_000;
    expect((await act("push_file", { file: "big.bin" })).error).toMatchObject(lost);
    expect((await act("push_file", { file: "big.bin" })).error).toBeUndefined();
    const pushed = device().system.files.read("/sdcard/Download/big.bin");
    expect(Buffer.from(pushed ?? []).equals(file)).toBe(true);
  });

  test("in the middle of a recording leaves what was recorded by then, and the next recording runs", async () => {
    const record = async () => {
      const { structured } = await client.call("start_recording", { trace: false });
      await expect.poll(pictures, { timeout: 20_000 }).toBe(1);
      const { sent } = device().traffic;
      await act("scroll", { direction: "down" });
      // Some pictures came.
      await expect.poll(() => device().traffic.sent - sent, { timeout: 20_000 }).toBeGreaterThan(200_000);
      return structured.recording_id;
    };
    const stop = (recording_id: unknown) => client.call("stop_recording", { recording_id });
    const first = await record();
    device().adbd.drop();
    await lab.reconnected(lab.devices[0]?.serial ?? "");
    await showsSettings();
    const files = [expect.objectContaining({ kind: "video" })];
    // It goes on if the phone is back before it looks.
    const ended = expect.stringMatching(/^(?:device_lost|stopped)$/);
    expect((await stop(first)).structured).toMatchObject({ ended, files });
    expect((await stop(await record())).structured).toMatchObject({ ended: "stopped", files });
  });
});

describe("an adb server that is ended", () => {
  const kill = () => lab.ask("host:kill").catch(() => undefined);

  test("between two calls is started again by the next, which works", async () => {
    await kill();
    await showsSettings();
  });

  test("in the middle of a key press is TRANSPORT_LOST, and the next call works", async () => {
    device().faults.extraDelayMs.input = 5_000;
    const sent = act("press_key", { key: "DOWN" });
    await expect.poll(() => device().traffic.services.at(-1)).toContain("input ");
    await kill();
    expect((await sent).error).toMatchObject(lost);
    device().faults.extraDelayMs = {};
    await showsSettings();
  });
});

describe("the driver's process that is killed with -9", () => {
  test("in the middle of a snapshot begins again by itself, and the snapshot is whole", async () => {
    await showsSettings();
    const { uia2 } = device();
    if (uia2) uia2.faults.sourceDelayMs = 60_000;
    const before = driverProgram(lab);
    const { requests } = device().traffic;
    const looking = look();
    await expect.poll(() => device().traffic.requests).toBeGreaterThan(requests);
    process.kill(before, "SIGKILL");
    expect((await looking).text).toContain("title: Settings");
    expect(driverProgram(lab)).not.toBe(before);
  });
});
