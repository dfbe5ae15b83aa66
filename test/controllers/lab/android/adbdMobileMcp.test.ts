import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { findProgram, runProgram } from "../../../../controllers/src/programs/run.ts";
import { apkOf } from "../../../fixtures/androidApk.ts";
import { type AndroidLab, startAndroidLab } from "../../../fixtures/androidLab.ts";

/** The program of others that drives phones for models, by its tools. */
const program = createRequire(import.meta.url).resolve("@mobilenext/mobile-mcp/lib/index.js");
const cli = join(dirname(program), "../../mobilecli-linux-amd64/mobilecli-linux-amd64");
const isHere = process.platform === "linux" && process.arch === "x64";

let lab: AndroidLab;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "tv" }] });
  folder = await mkdtemp(join(tmpdir(), "labwright-mobile-"));
  await mkdir(join(folder, "sdk/platform-tools"), { recursive: true });
  await symlink(findProgram("adb") ?? "", join(folder, "sdk/platform-tools/adb"));
  env = {
    PATH: lab.env.PATH ?? "",
    HOME: lab.env.HOME ?? "",
    ANDROID_ADB_SERVER_PORT: String(lab.adbPort),
    ANDROID_HOME: join(folder, "sdk"),
    MOBILEMCP_DISABLE_TELEMETRY: "1",
  };
});
afterAll(async () => {
  // Its program leaves a daemon behind.
  await runProgram(cli, ["daemon", "stop"], { env, timeoutMs: 20_000, signal: new AbortController().signal });
  await lab?.close();
  await rm(folder, { recursive: true, force: true });
});

const phone = () => {
  const [first] = lab.devices;
  if (!first) throw new Error("no device");
  return first;
};
const reply = z.object({ content: z.array(z.object({ text: z.string().default("") })).min(1) });

/** Calls tools of a server that ends with the work; each gives its text. */
async function using(
  more: Record<string, string>,
  work: (call: (name: string, args?: Record<string, unknown>) => Promise<string>) => Promise<void>,
): Promise<void> {
  const client = new Client({ name: "judge", version: "1" });
  const given = { command: process.execPath, args: [program, "--stdio"], stderr: "ignore" as const };
  await client.connect(new StdioClientTransport({ ...given, env: { ...env, ...more } }));
  try {
    await work(async (name, args = {}) => {
      const called = await client.callTool({ name, arguments: args });
      const text = reply.parse(called).content[0]?.text ?? "";
      if (called.isError === true) throw new Error(text);
      return text;
    });
  } finally {
    await client.close();
  }
}

describe.runIf(isHere)("mobile-mcp", () => {
  it("drives the phone by its legacy robot", async () => {
    const { serial: device, device: lab } = phone();
    await using({ MOBILEMCP_LEGACY_ROBOT: "1" }, async (call) => {
      expect(await call("mobile_list_available_devices")).toContain(device);
      expect(await call("mobile_list_apps", { device })).toContain("dev.labwright.shop");
      expect(await call("mobile_get_screen_size", { device })).toContain("1080x2400");
      await call("mobile_launch_app", { device, packageName: "com.android.settings", locale: "de-DE" });
      const list = await call("mobile_list_elements_on_screen", { device });
      expect(list.split("\n").length).toBeGreaterThan(8);
      await call("mobile_swipe_on_screen", { device, direction: "up" });
      expect(await call("mobile_list_elements_on_screen", { device })).not.toBe(list);
      await call("mobile_press_button", { device, button: "HOME" });
      expect(lab.ui.front().packageName).toBe("com.android.launcher3");
      await call("mobile_set_orientation", { device, orientation: "landscape" });
      expect(await call("mobile_get_orientation", { device })).toContain("landscape");
      expect(lab.ui.space()).toMatchObject({ width: 2400, height: 1080 });
      await call("mobile_set_orientation", { device, orientation: "portrait" });
      await call("mobile_terminate_app", { device, packageName: "com.android.settings" });
      const saveTo = join(folder, "screen.png");
      await call("mobile_save_screenshot", { device, saveTo });
      expect(await sharp(await readFile(saveTo)).metadata()).toMatchObject({ format: "png" });
      const path = join(folder, "app.apk");
      await writeFile(path, apkOf({ packageName: "com.example.mobile", versionCode: 1, versionName: "1" }));
      await call("mobile_install_app", { device, path });
      await call("mobile_launch_app", { device, packageName: "com.example.mobile" });
      expect(lab.ui.front().packageName).toBe("com.example.mobile");
      await call("mobile_uninstall_app", { device, bundle_id: "com.example.mobile" });
      await expect(
        call("mobile_launch_app", { device, packageName: "com.example.mobile" }),
      ).resolves.toContain("Failed launching app");
    });
    expect(lab.system.unknown).toEqual([]);
  });

  /** Its agent is Java code, which does not run here; it waits for the agent for 5 s and then goes another way. */
  it("drives the phone by default, without its agent", async () => {
    const { serial: device, device: lab } = phone();
    lab.ui.stop("com.android.settings");
    await using({}, async (call) => {
      expect(await call("mobile_list_available_devices")).toContain(device);
      await call("mobile_launch_app", { device, packageName: "com.android.settings" });
      const list = await call("mobile_list_elements_on_screen", { device });
      expect(list.split("\n").length).toBeGreaterThan(8);
      await call("mobile_click_on_screen_at_coordinates", { device, x: 540, y: 400 });
      expect(lab.system.history.at(-1)).toBe("input tap 540 400");
    });
    expect(lab.system.unknown).toEqual([]);
  });
});
