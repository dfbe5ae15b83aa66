import { chmod, mkdtemp, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { driverEnvironment, freePorts } from "#controllers/android/driver/place.ts";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { never } from "./openAndroid.ts";

let lab: AndroidLab;
let folder: string;
beforeAll(async () => {
  lab = await startAndroidLab({ devices: [] });
  folder = await mkdtemp(join(tmpdir(), "labwright-driver-place-"));
});
afterAll(async () => {
  await lab.close();
  await rm(folder, { recursive: true, force: true });
});

const environment = (env: NodeJS.ProcessEnv) =>
  driverEnvironment({ folder, adbPort: lab.adbPort }, never, env);

/** A PATH on which a program adb comes first that says this of its version. */
async function pathWith(says: string): Promise<string> {
  const place = await mkdtemp(join(folder, "path-"));
  await writeFile(join(place, "adb"), `#!/bin/sh\necho '${says}'\n`);
  await chmod(join(place, "adb"), 0o755);
  return [place, lab.env.PATH].join(delimiter);
}

describe("the environment of the driver", () => {
  it("has adb in its place in an SDK, the port of the server, and no variable of ours that programs do not need", async () => {
    const env = await environment({ ...lab.env, LABWRIGHT_SECRET: "s3cret", NODE_OPTIONS: "--inspect" });
    expect(env).toEqual({
      PATH: lab.env.PATH,
      HOME: lab.env.HOME,
      ANDROID_HOME: folder,
      ANDROID_ADB_SERVER_PORT: String(lab.adbPort),
      ANDROID_ADB_SERVER_ADDRESS: "127.0.0.1",
    });
    expect(await readlink(join(folder, "platform-tools", "adb"))).toMatch(/\/adb$/);
  });

  it("is refused where adb is of another version than its server, which it would end", async () => {
    const PATH = await pathWith("Android Debug Bridge version 1.0.99");
    await expect(environment({ ...lab.env, PATH })).rejects.toMatchObject({
      code: "UIA_UNAVAILABLE",
      message: expect.stringMatching(/version 1\.0\.\d+ and .*\/adb of 1\.0\.99, which would end it\. Put/),
    });
    expect(await lab.ask("host:version")).toMatch(/^[0-9a-f]{4}$/);
  });

  it("is refused where there is no adb", async () => {
    await expect(environment({ PATH: folder })).rejects.toMatchObject({ code: "ADB_MISSING" });
  });
});

it("free ports are all different, and outside the range that adb scans for emulators", async () => {
  const ports = await freePorts(20);
  expect(new Set(ports).size).toBe(20);
  for (const port of ports) expect(port < 5555 || port > 5585).toBe(true);
});
