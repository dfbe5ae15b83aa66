import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { adbKeysFactory, cecFactory, infraredFactory } from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeRemote, never } from "../../controllers/remotes/openRemote.ts";
import { failureOf, remoteContract } from "../../controllers/remotes/remoteContract.ts";
import { testAddons } from "../../fixtures/addons.ts";
import { startAndroidLab } from "../../fixtures/androidLab.ts";
import { startLircd } from "../../lab/tv/infrared.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "labwright-remotes-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const diagnosing = { env: process.env, addons: testAddons, signal: never };

remoteContract(
  "infrared by the real lircd",
  async () => {
    const place = await mkdtemp(join(folder, "lirc-"));
    const lircd = await startLircd(place, { remote: "box", socket: join(place, "lircd") });
    const { pid = 0 } = lircd.program.child;
    return {
      factory: infraredFactory,
      settings: { socket: lircd.socket, remote: "box" },
      arrived: lircd.sent,
      sends: { OK: ["KEY_OK"], UP: ["KEY_UP"] },
      holds: ["KEY_UP"],
      silence: { set: (isSilent) => process.kill(pid, isSilent ? "SIGSTOP" : "SIGCONT") },
      close: () => lircd.program.end(0),
    };
  },
  { without: ["refuses"] },
);

describe("infrared by the real lircd", () => {
  it("offers the keys that its lircd.conf has, and names the remotes that it has", async () => {
    const place = await mkdtemp(join(folder, "lirc-"));
    const socket = join(place, "lircd");
    const missing = infraredFactory.settings.parse({ socket, remote: "box" });
    expect(await infraredFactory.diagnose?.(missing, diagnosing)).toMatchObject([
      { what: "lircd", status: "missing", fix: expect.stringContaining("systemctl start lircd") },
    ]);
    const lircd = await startLircd(place, { remote: "box", socket });
    try {
      const { remote, press } = makeRemote(infraredFactory, { socket, remote: "box" });
      await remote.open(never);
      expect(remote.facts?.()).toMatchObject({ version: expect.stringMatching(/^lircd \d/) });
      await press("KEY_TELETEXT");
      await expect.poll(lircd.sent).toEqual(["KEY_TELETEXT"]);
      await expect(press("BACK")).rejects.toMatchObject({ code: "INVALID_PARAMS" });
      await remote.close();
      const other = makeRemote(infraredFactory, { socket, remote: "tv" });
      await expect(other.remote.open(never)).rejects.toMatchObject({
        code: "DEVICE_NOT_FOUND",
        message: expect.stringContaining("box"),
      });
      await other.remote.close();
    } finally {
      await lircd.program.end(0);
    }
  });
});

/** A folder with a program that speaks cec-client's console, which is found first on the PATH until `undo`. */
async function fakeCecClient() {
  const bin = await mkdtemp(join(folder, "bin-"));
  await copyFile(resolve("test/lab/tv/remotes/cecClient.mjs"), join(bin, "cec-client.mjs"));
  const script = `#!/bin/sh\nexec ${process.execPath} ${join(bin, "cec-client.mjs")} "$@"\n`;
  await writeFile(join(bin, "cec-client"), script, { mode: 0o755 });
  const sent = join(bin, "sent");
  await writeFile(sent, "");
  const before = process.env.PATH;
  Object.assign(process.env, { PATH: `${bin}:${before}`, CEC_SENT: sent });
  const undo = () => {
    process.env.PATH = before;
    delete process.env.CEC_SENT;
  };
  return { arrived: async () => (await readFile(sent, "utf8")).split("\n").filter(Boolean), undo };
}

remoteContract("cec by a program that speaks cec-client's console", async () => {
  const { arrived, undo } = await fakeCecClient();
  return {
    factory: cecFactory,
    settings: { target: 4, keys: { ODD: "fe", DEAF: "ff" } },
    arrived,
    sends: { OK: ["14:44:00", "14:45"], UP: ["14:44:01", "14:45"] },
    holds: ["14:44:01", "14:45"],
    refuses: { key: "ODD", code: "DEVICE_ERROR" },
    silence: { set: () => undefined, key: "DEAF" },
    close: async () => undo(),
  };
});

describe("CEC", () => {
  it("says what its adapter lacks, and that a key was sent whose release failed", async () => {
    const { undo } = await fakeCecClient();
    try {
      const { remote, press } = makeRemote(cecFactory, { target: 4, keys: { STUCK: "fd" } });
      await remote.open(never);
      expect(await failureOf(() => press("STUCK"))).toMatchObject({
        dispatched: "yes",
        failure: { code: "DEVICE_ERROR", message: expect.stringContaining("failed to transmit") },
      });
      expect(remote.facts?.()).toEqual({ make: "CEC", version: "libCEC 6.0.2" });
      await remote.close();
      const gone = makeRemote(cecFactory, { adapter: "/dev/missing" });
      await expect(gone.remote.open(never)).rejects.toMatchObject({
        code: "DEVICE_OFFLINE",
        message: expect.stringContaining("could not open"),
      });
      await gone.remote.close();
    } finally {
      undo();
    }
  });

  it("needs an adapter, as the real cec-client says", async () => {
    expect(await cecFactory.diagnose?.(cecFactory.settings.parse({}), diagnosing)).toMatchObject([
      { what: "CEC adapter", status: "missing", fix: expect.stringContaining("Plug") },
    ]);
    expect(
      await cecFactory.diagnose?.(cecFactory.settings.parse({}), {
        ...diagnosing,
        env: { PATH: "/nowhere" },
      }),
    ).toMatchObject([{ what: "cec-client", status: "missing", fix: expect.stringContaining("cec-utils") }]);
  });
});

describe("adb keys by the real adb server", () => {
  remoteContract(
    "adb_keys",
    async () => {
      const lab = await startAndroidLab({ devices: [{ persona: "tv" }] });
      const { device, settings } = lab.at(0);
      return {
        factory: adbKeysFactory,
        settings,
        arrived: () => device.traffic.services.flatMap((said) => /input keyevent \w+/.exec(said)?.[0] ?? []),
        sends: { OK: ["input keyevent 23"], UP: ["input keyevent 19"] },
        close: () => lab.close(),
      };
    },
    { without: ["refuses", "silence"] },
  );

  it("name a TV that is not there, and doctor starts no server", async () => {
    const lab = await startAndroidLab({ devices: [{ persona: "tv" }] });
    const serial = lab.devices[0]?.serial ?? "";
    const { remote } = makeRemote(adbKeysFactory, { serial, adb_port: lab.adbPort });
    await remote.open(never);
    expect(remote.facts?.()).toMatchObject({ version: expect.stringMatching(/^Android \d/) });
    await remote.close();
    const other = makeRemote(adbKeysFactory, { serial: "nothing", adb_port: lab.adbPort });
    await expect(other.remote.open(never)).rejects.toMatchObject({
      code: "DEVICE_OFFLINE",
      message: expect.stringContaining("nothing"),
    });
    await lab.close();
    // The lab's server is gone by now, and doctor starts none.
    const settings = adbKeysFactory.settings.parse({ serial, adb_port: lab.adbPort });
    for (let look = 0; look < 2; look++)
      expect(await adbKeysFactory.diagnose?.(settings, diagnosing)).toMatchObject([
        { status: "missing", detail: expect.stringContaining("Cannot reach") },
      ]);
  });
});
