import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { androidFactory } from "@labwright/controllers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { controllerContract } from "../contract.ts";
import { logSourceContract } from "../ports.ts";
import { makeAndroid, never, openAndroid, portOf } from "./openAndroid.ts";

/** What holds of every device with Android. `npm run test:device` names a real one; without it, the tests run on the laboratory's. */
const real = process.env.TEST_ANDROID_SERIAL;
const settings = { app: { package: "com.android.settings" } };
const devices: readonly [string, number][] = real
  ? [[real, 0]]
  : [
      ["the laboratory's phone", 0],
      ["the laboratory's TV", 1],
    ];

let lab: AndroidLab | undefined;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "labwright-any-"));
  if (!real) lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "tv" }] });
});
afterAll(async () => {
  await lab?.close();
  await rm(folder, { recursive: true, force: true });
});

const settingsOf = (at: number) =>
  lab
    ? { serial: lab.devices[at]?.serial, adb_port: lab.adbPort }
    : { serial: real, adb_port: Number(process.env.TEST_ANDROID_ADB_PORT ?? 5037) };
const context = {
  uploadPath: (name: string) => join(folder, name),
  temporaryFolder: () => mkdtemp(join(folder, "pulled-")),
};
const open = (at: number) => openAndroid(settingsOf(at), context);

describe.each(devices)("%s", (name, at) => {
  let device: Awaited<ReturnType<typeof openAndroid>>;
  beforeEach(async () => {
    device = await open(at);
    await device.run("close_app", settings);
    await device.run("open_app", settings);
  });
  afterEach(() => device.close());

  const dump = () => device.dump();
  const isTv = () => !device.remote.withheld?.().some((one) => one.name === "move_focus_to");
  const names = async () => (await dump()).elements.map((one) => one.name).filter((one) => one !== "");

  it("says what it is, and is online", () => {
    const { make, version, screen } = device.remote.facts?.() ?? {};
    expect(make).toMatch(/\w/);
    expect(version).toMatch(/^Android \d/);
    expect(Math.min(screen?.width ?? 0, screen?.height ?? 0)).toBeGreaterThan(200);
    expect(device.remote.status?.()).toEqual({ state: "online" });
  });

  it("shows its settings: elements with names, within the screen, and a picture of the same size", async () => {
    const { elements } = await dump();
    const frame = await portOf(device.remote.screen).capture({}, never);
    expect(elements.filter((one) => one.interactive && one.name !== "").length).toBeGreaterThan(2);
    for (const { rect = { x: 0, y: 0, width: 0, height: 0 }, role } of elements) {
      expect(rect.x + rect.width, role).toBeLessThanOrEqual(frame.width);
      expect(rect.y + rect.height, role).toBeLessThanOrEqual(frame.height);
    }
    expect(frame.bytes.length).toBeGreaterThan(1_000);
  });

  it("opens a row that is clicked and comes back from it; a ref of the earlier screen is stale", async () => {
    const before = await names();
    const row = (await dump()).elements.findLast(
      (one) => one.interactive && one.name !== "" && /button|link|listitem|menuitem/.test(one.role),
    );
    expect(row, before.join(", ")).toBeDefined();
    await device.run("click_element", { selector: row?.name });
    await expect.poll(names, { timeout: 10_000 }).not.toEqual(before);
    await device.run("press_key", { key: "BACK" });
    await expect.poll(names, { timeout: 10_000 }).toEqual(before);
    await device.run("go_home");
    await expect(device.run("click_element", { ref: row?.ref, timeout_ms: 500 })).rejects.toMatchObject({
      code: "STALE_REF",
    });
  });

  it("does not find a missing element, and lists the nearest", async () => {
    await expect(
      device.run("click_element", { selector: "No such text", timeout_ms: 500 }),
    ).rejects.toMatchObject({ code: "ELEMENT_NOT_FOUND" });
    await device.holds("text_visible", { text: "No such text" }, false);
  });

  it("judges its apps", async () => {
    await device.holds("app_installed", settings.app);
    await device.holds("app_installed", { package: "com.example.none" }, false);
    await device.holds("app_shown", settings);
    const { apps = [] } = (await device.remote.apps?.installedApps(never)) ?? {};
    expect(apps.map(({ id }) => id)).toContain("com.android.settings");
  });

  it("takes a file and gives it back as it was", async () => {
    const bytes = randomBytes(200_000);
    const file = "it's $(reboot) ä.bin";
    await writeFile(join(folder, file), bytes);
    await device.run("push_file", { file });
    const pulled = await device.run("pull_file", { path: `/sdcard/Download/${file}` });
    expect((await readFile(pulled.file ?? "")).equals(bytes)).toBe(true);
  });

  it("measures itself", async () => {
    const { readings = [] } = (await device.remote.sensors?.sensors(never)) ?? {};
    expect(readings.length).toBeGreaterThan(0);
  });

  it("has the text size that is set, and the earlier size for the next client", async () => {
    const scale = (value: string) =>
      device.read("setting_is", { namespace: "system", name: "font_scale", value });
    const { actual: before } = await scale("0.1");
    await device.run("set_font_scale", { scale: 1.15 });
    expect(await scale("1.15")).toMatchObject({ holds: true });
    device.remote.handOver?.();
    await device.remote.open(never);
    expect((await scale("0.1")).actual).toBe(before);
  });

  it("turns unless it is a TV; on a TV the focus moves to what is named", async () => {
    if (!isTv()) {
      await device.run("rotate", { to: "landscape" });
      await device.run("rotate", { to: "portrait" });
      await device.holds("orientation_is", { orientation: "portrait" });
      return;
    }
    const target = (await dump()).elements.filter((one) => one.interactive && one.name !== "").at(-1);
    await device.run("move_focus_to", { selector: target?.name });
    await device.holds("element_focused", { selector: target?.name });
  });

  // Of the laboratory's devices, contract.test.ts does.
  if (real) {
    const endless = { command: "wait_for", params: { text: "No such text", timeout_ms: 60_000 } };
    controllerContract(`remote of ${name}`, async () => {
      const { remote, close } = makeAndroid(settingsOf(at));
      return { controller: remote, factory: androidFactory, endless, dispose: close };
    });
    logSourceContract(name, async () => {
      const { remote, run, close } = await open(at);
      const cause = async () => {
        await run("go_home");
        await run("open_app", settings);
      };
      return { port: portOf(remote.logs), cause, dispose: close };
    });
  }
});
