import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { adbKeysFactory, cecFactory, infraredFactory, startProgram } from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeRemote, never } from "../../controllers/remotes/openRemote.ts";
import { testAddons } from "../../fixtures/addons.ts";
import { startAndroidLab } from "../../fixtures/androidLab.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "labwright-remotes-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const diagnosing = { env: process.env, addons: testAddons, signal: never };

/** A NEC remote: 16 bits before each code. */
const lircdConf = `begin remote
  name box
  bits 16
  flags SPACE_ENC|CONST_LENGTH
  eps 30
  aeps 100
  header 9000 4500
  one 560 1690
  zero 560 560
  ptrail 560
  pre_data_bits 16
  pre_data 0x20DF
  gap 108000
  frequency 38000
  begin codes
    KEY_OK 0x22DD
    KEY_UP 0x02FD
    KEY_TELETEXT 0x04FB
  end codes
end remote
`;

/** The codes in the pulses that lircd wrote: 32 bits behind each header. */
function codesIn(pulses: string): string[] {
  const times = [...pulses.matchAll(/^(?:pulse|space) (\d+)/gm)].map(([, time]) => Number(time));
  return times.flatMap((time, at) => {
    if (time < 8_000 || time > 10_000 || Math.abs((times[at + 1] ?? 0) - 4_500) > 500) return [];
    const bits = Array.from({ length: 32 }, (_, bit) => ((times[at + 3 + bit * 2] ?? 0) > 1_000 ? "1" : "0"));
    return [Number.parseInt(bits.join(""), 2).toString(16).padStart(8, "0")];
  });
}

describe("infrared by the real lircd", () => {
  it("sends the pulses of its lircd.conf, holds a key, and offers the keys that the file has", async () => {
    const [conf, socket, out] = [join(folder, "lircd.conf"), join(folder, "lircd"), join(folder, "pulses")];
    await writeFile(conf, lircdConf);
    await writeFile(out, "");
    const missing = infraredFactory.settings.parse({ socket, remote: "box" });
    expect(await infraredFactory.diagnose?.(missing, diagnosing)).toMatchObject([
      { status: "missing", fix: expect.stringContaining("systemctl start lircd") },
    ]);
    const lircd = startProgram("/usr/sbin/lircd", [
      ...["--nodaemon", "--driver=file", `--device=${out}`, `--output=${socket}`],
      ...[`--pidfile=${join(folder, "pid")}`, conf],
    ]);
    try {
      const { remote, run, press } = makeRemote(infraredFactory, { socket, remote: "box" });
      await expect
        .poll(() => remote.open(never).then(() => "open", String), { timeout: 10_000 })
        .toBe("open");
      expect(remote.facts?.()).toMatchObject({ version: expect.stringMatching(/^lircd \d/) });
      expect(await press("OK")).toMatchObject({ sentAt: expect.any(Number) });
      await press("KEY_TELETEXT");
      await expect.poll(async () => codesIn(await readFile(out, "utf8"))).toEqual(["20df22dd", "20df04fb"]);
      await expect(press("BACK")).rejects.toMatchObject({ code: "INVALID_PARAMS" });
      await run("hold_key", { key: "UP", ms: 300 });
      await expect.poll(async () => codesIn(await readFile(out, "utf8")).slice(2)).toContain("20df02fd");
      await remote.close();
      const other = makeRemote(infraredFactory, { socket, remote: "tv" });
      await expect(other.remote.open(never)).rejects.toMatchObject({
        code: "DEVICE_NOT_FOUND",
        message: expect.stringContaining("box"),
      });
      await other.remote.close();
    } finally {
      await lircd.end(0);
    }
  });
});

describe("CEC", () => {
  it("puts a key and its release on the bus, by a program that speaks cec-client's console", async () => {
    const bin = await mkdtemp(join(folder, "bin-"));
    await copyFile(resolve("test/lab/tv/remotes/cecClient.mjs"), join(bin, "cec-client.mjs"));
    await writeFile(
      join(bin, "cec-client"),
      `#!/bin/sh\nexec ${process.execPath} ${join(bin, "cec-client.mjs")} "$@"\n`,
    );
    await chmod(join(bin, "cec-client"), 0o755);
    const sent = join(bin, "sent");
    const before = { PATH: process.env.PATH, CEC_SENT: process.env.CEC_SENT };
    Object.assign(process.env, { PATH: `${bin}:${before.PATH}`, CEC_SENT: sent });
    try {
      const { remote, run, press } = makeRemote(cecFactory, { target: 4 });
      await remote.open(never);
      expect(remote.facts?.()).toEqual({ make: "CEC", version: "libCEC 6.0.2" });
      await press("OK");
      await run("hold_key", { key: "UP", ms: 50 });
      expect(await readFile(sent, "utf8")).toBe("14:44:00\n14:45\n14:44:01\n14:45\n");
      await remote.close();
      const gone = makeRemote(cecFactory, { adapter: "/dev/missing" });
      await expect(gone.remote.open(never)).rejects.toMatchObject({
        code: "DEVICE_OFFLINE",
        message: expect.stringContaining("could not open"),
      });
      await gone.remote.close();
    } finally {
      process.env.PATH = before.PATH;
      delete process.env.CEC_SENT;
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

it("adb keys reach a TV through the real adb server, and one that is not there is named", async () => {
  const lab = await startAndroidLab({ devices: [{ persona: "tv" }] });
  const serial = lab.devices[0]?.serial ?? "";
  const { remote, press } = makeRemote(adbKeysFactory, { serial, adb_port: lab.adbPort });
  await remote.open(never);
  expect(remote.facts?.()).toMatchObject({ version: expect.stringMatching(/^Android \d/) });
  await press("DOWN");
  expect(lab.devices[0]?.device.traffic.services.join("\n")).toContain("input keyevent 20");
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
