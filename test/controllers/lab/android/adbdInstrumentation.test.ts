import { runProgram } from "@labwright/controllers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { apkOf } from "../../../fixtures/androidApk.ts";
import { type AndroidLab, answerAt, startAndroidLab } from "../../../fixtures/androidLab.ts";
import { never, openLink } from "../../android/openAndroid.ts";

const server = "io.appium.uiautomator2.server";
const runner = "androidx.test.runner.AndroidJUnitRunner";
const component = `${server}.test/${runner}`;

let lab: AndroidLab;

beforeEach(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
});
afterEach(() => lab.close());

function open() {
  const [first] = lab.devices;
  if (!first) throw new Error("no device");
  const { serial, device } = first;
  const install = async (apk: Buffer) => {
    device.system.files.place("/data/local/tmp/a.apk", apk);
    expect(await lab.shell(serial, "pm install /data/local/tmp/a.apk")).toBe("Success\n");
  };
  return {
    serial,
    device,
    /** As the two APKs of the UiAutomator2 server say of themselves. */
    async installServer() {
      await install(apkOf({ packageName: server, versionCode: 1, versionName: "1" }));
      const instrumentation = { runner, target: server };
      const packageName = `${server}.test`;
      await install(apkOf({ packageName, versionCode: 1, versionName: "1", instrumentation }));
    },
    async forward() {
      const { stdout } = await runProgram("adb", ["-s", serial, "forward", "tcp:0", "tcp:6790"], {
        env: lab.env,
        signal: new AbortController().signal,
        timeoutMs: 30_000,
      });
      return Number(stdout);
    },
  };
}

/** Asks until the server answers. */
async function statusAt(port: number): Promise<string> {
  for (;;) {
    const answer = await answerAt(port, "/status");
    if (answer !== "") return answer;
  }
}

it("starts nothing that is not installed", async () => {
  const { serial, device } = open();
  expect(await lab.shell(serial, `am instrument -w ${component}`)).toContain("INSTRUMENTATION_FAILED");
  expect(device.uia2).toBeUndefined();
});

it("runs the UiAutomator2 server, alone, until it is stopped", async () => {
  const { serial, device, installServer, forward } = open();
  await installServer();
  expect(await lab.shell(serial, "pm list instrumentation")).toBe(
    `instrumentation:${component} (target=${server})\n`,
  );
  const ended = lab.shell(serial, `am instrument -w ${component}`);
  const port = await forward();
  expect(await statusAt(port)).toContain('"ready":true');
  expect(device.traffic.requests).toBeGreaterThan(0);
  expect(await lab.shell(serial, "uiautomator dump /dev/tty")).toBe("Killed \n");
  expect(await lab.shell(serial, `pidof ${server}`)).toMatch(/^\d+\n$/);
  await lab.shell(serial, `am force-stop ${server}`);
  expect(await ended).toContain("INSTRUMENTATION_CODE: 0");
  expect(device.uia2).toBeUndefined();
  expect(await lab.shell(serial, "uiautomator dump /dev/tty")).toContain("UI hierchary dumped to");
});

it("ends with a crash, and with the connection", async () => {
  const { serial, device, installServer, forward } = open();
  await installServer();
  const crashed = lab.shell(serial, `am instrument -w ${component}`);
  await statusAt(await forward());
  device.crashInstrumentation();
  expect(await crashed).toContain("shortMsg=Process crashed");
  const dropped = lab.shell(serial, `am instrument -w ${component}`);
  await statusAt(await forward());
  device.adbd.drop();
  await dropped;
  await lab.reconnected(serial);
  expect(device.uia2).toBeUndefined();
  expect(device.system.automation.size).toBe(0);
});

it("is refused by a fault", async () => {
  const { serial, device, installServer } = open();
  await installServer();
  device.faults.instrumentationRefused = true;
  expect(await lab.shell(serial, `am instrument -w ${component}`)).toContain("INSTRUMENTATION_FAILED");
});

it("has a terminal for exec and none for the shell protocol: a dump to /dev/tty shows nothing there", async () => {
  const { serial } = open();
  expect(await lab.shell(serial, "uiautomator dump /dev/tty")).toContain("<hierarchy");
  const { link, end } = await openLink(lab.adbPort, serial);
  const { stdout } = await link.script("uiautomator dump /dev/tty", never);
  end();
  expect(stdout).toBe("UI hierchary dumped to: /dev/tty\n");
});
