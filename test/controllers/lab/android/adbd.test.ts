import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runForBytes } from "#controllers/programs/run.ts";
import { apkOf } from "../../../fixtures/androidApk.ts";
import { type AndroidLab, answerAt, startAndroidLab } from "../../../fixtures/androidLab.ts";

const signal = new AbortController().signal;
let lab: AndroidLab;
let folder: string;

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "tv" }] });
  folder = await mkdtemp(join(tmpdir(), "labwright-adbd-"));
});
afterAll(async () => {
  await lab?.close();
  await rm(folder, { recursive: true, force: true });
});

const options = () => ({ env: lab.env, signal, timeoutMs: 30_000 });
const device = () => {
  const [first] = lab.devices;
  if (!first) throw new Error("no device");
  return first;
};
/** The real adb, on the first device. */
const adb = (...args: string[]) => runProgram("adb", ["-s", device().serial, ...args], options());

describe("shell", () => {
  it("gives the exit code, and both streams apart", async () => {
    expect(await adb("shell", "echo out; echo err >&2; exit 3")).toEqual({
      code: 3,
      stdout: "out\n",
      stderr: "err\n",
    });
    expect(await adb("shell", "nosuchprogram")).toMatchObject({
      code: 127,
      stderr: "/system/bin/sh: nosuchprogram: inaccessible or not found\n",
    });
  });

  it("passes 3 MB into a command and out of one", async () => {
    const input = randomBytes(3_000_000);
    const into = ["-s", device().serial, "shell", "cat > /sdcard/in"];
    expect((await runForBytes("adb", into, { ...options(), input })).code).toBe(0);
    const out = await runForBytes("adb", ["-s", device().serial, "exec-out", "cat", "/sdcard/in"], options());
    expect(Buffer.compare(out.stdout, input)).toBe(0);
  });

  it("runs a script that comes by standard input", async () => {
    const { stdout } = await runProgram("adb", ["-s", device().serial, "shell"], {
      ...options(),
      input: "echo one\necho two\n",
    });
    expect(stdout).toBe("one\ntwo\n");
  });

  it("runs 100 side by side, each with its own answer", async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => lab.shell(device().serial, `echo answer ${index}`)),
    );
    expect(answers).toEqual(Array.from({ length: 100 }, (_, index) => `answer ${index}\n`));
  });

  it("keeps two devices apart", async () => {
    const names = await Promise.all(
      lab.devices.map(({ serial }) => lab.shell(serial, "getprop ro.product.model")),
    );
    expect(names).toEqual(["Lab Phone\n", "Lab TV\n"]);
  });
});

describe("files", () => {
  it("pushes and pulls 3 MB unchanged, and says what it cannot do", async () => {
    const from = join(folder, "blob");
    const to = join(folder, "back");
    await writeFile(from, randomBytes(3_000_000));
    expect((await adb("push", from, "/sdcard/blob")).code).toBe(0);
    expect((await adb("pull", "/sdcard/blob", to)).code).toBe(0);
    expect(Buffer.compare(await readFile(from), await readFile(to))).toBe(0);
    const refused = await adb("push", from, "/system/blob");
    expect(refused.code).toBe(1);
    expect(refused.stdout + refused.stderr).toContain("Read-only file system");
    const missing = await adb("pull", "/sdcard/nosuch", to);
    expect(missing.code).toBe(1);
    expect(missing.stdout + missing.stderr).toMatch(/No such file or directory/);
  });

  it("stops where the storage is full", async () => {
    device().device.faults.storageFull = true;
    const from = join(folder, "small");
    await writeFile(from, "text");
    const { code, stdout, stderr } = await adb("push", from, "/sdcard/small");
    device().device.faults.storageFull = false;
    expect({ code, text: stdout + stderr }).toEqual({
      code: 1,
      text: expect.stringContaining("No space left"),
    });
  });
});

describe("installing", () => {
  it("takes an APK by its manifest, and refuses what is none", async () => {
    const path = join(folder, "app.apk");
    await writeFile(path, apkOf({ packageName: "com.example.thing", versionCode: 41, versionName: "4.1" }));
    expect((await adb("install", "-r", path)).stdout).toContain("Success");
    const { stdout } = await adb("shell", "dumpsys", "package", "com.example.thing");
    expect(stdout).toMatch(/versionCode=41 [\s\S]*versionName=4\.1/);
    await writeFile(path, "no zip at all");
    const refused = await adb("install", path);
    expect(refused.code).toBe(1);
    expect(refused.stdout + refused.stderr).toContain("INSTALL_PARSE_FAILED_NOT_APK");
    expect((await adb("uninstall", "com.example.thing")).stdout).toContain("Success");
    expect((await adb("uninstall", "com.example.thing")).code).toBe(1);
  });

  it("fails by its faults", async () => {
    const path = join(folder, "other.apk");
    await writeFile(path, apkOf({ packageName: "com.example.other", versionCode: 1, versionName: "1" }));
    const { faults } = device().device;
    faults.storageFull = true;
    expect((await adb("install", path)).stderr).toContain("INSTALL_FAILED_INSUFFICIENT_STORAGE");
    faults.storageFull = false;
    faults.installFailure = "INSTALL_FAILED_UPDATE_INCOMPATIBLE";
    expect((await adb("install", path)).stderr).toContain("INSTALL_FAILED_UPDATE_INCOMPATIBLE");
    faults.installFailure = undefined;
    expect((await adb("install", path)).code).toBe(0);
  });
});

describe("forward", () => {
  it("leads to what listens on the device, and counts its requests", async () => {
    const { device: phone } = device();
    const server = createServer((request, response) => {
      request.resume().on("end", () => response.end(`you asked for ${request.url}`));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    phone.listen("tcp:6790", typeof address === "object" && address ? address.port : 0);
    const { stdout } = await adb("forward", "tcp:0", "tcp:6790");
    const port = stdout.trim();
    phone.traffic.reset();
    const first = await fetch(`http://127.0.0.1:${port}/one`, {
      method: "POST",
      body: "GET / HTTP/1.1\r\n\r\n",
    });
    expect(await first.text()).toBe("you asked for /one");
    const second = await fetch(`http://127.0.0.1:${port}/two`);
    expect(await second.text()).toBe("you asked for /two");
    expect(phone.traffic).toMatchObject({ requests: 2 });
    expect(phone.traffic.calls).toBe(phone.traffic.opens + 2);
    expect((await adb("forward", "--list")).stdout).toContain(`tcp:${port} tcp:6790`);
    expect((await adb("forward", "--remove", `tcp:${port}`)).code).toBe(0);
    server.closeAllConnections();
    server.close();
  });

  it("refuses what nothing listens on", async () => {
    const { stdout } = await adb("forward", "tcp:0", "localabstract:nothing");
    expect(await answerAt(Number(stdout))).toBe("");
  });
});

it("answers the requests of adbd itself", async () => {
  expect((await adb("root")).stdout).toContain("cannot run as root");
  expect((await adb("get-state")).stdout).toBe("device\n");
  expect((await adb("reboot")).code).toBe(0);
  await lab.reconnected(device().serial);
  expect((await adb("shell", "getprop", "sys.boot_completed")).stdout).toBe("1\n");
});
