import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type DriverController, infraredFactory, kodiFactory, x11Factory } from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRunning } from "#controllers/programs/processTree.ts";
import { makeRemote } from "../../controllers/remotes/openRemote.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { playChannel } from "../../fixtures/kodiDevice.ts";
import { openProduct } from "../../fixtures/product.ts";
import { received, startLircd } from "../../lab/tv/infrared.ts";
import { type KodiLab, startKodi } from "../../lab/tv/kodi/index.ts";

const never = new AbortController().signal;

/** A program that ended waits for its parent to see it. */
const runs = (pid: number) =>
  isRunning(pid) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

/** Ids of programs below a process, by the names of their files. */
function below(pid: number): { pid: number; name: string }[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  return children.map(Number).flatMap((child) => {
    const name = readFileSync(`/proc/${child}/comm`, "utf8").trim();
    return [{ pid: child, name }, ...below(child)];
  });
}

const loopback = "0100007F";
/** What takes connections or datagrams on this machine, by inode, with its address as the kernel writes it. */
const listeners = () =>
  ["tcp", "tcp6", "udp", "udp6"].flatMap((protocol) =>
    readFileSync(`/proc/net/${protocol}`, "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === (protocol.startsWith("tcp") ? "0A" : "07"))
      .map((fields) => ({ address: fields[1]?.split(":")[0], inode: fields[9] ?? "" })),
  );

const socketsOf = (pid: number) =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    const found = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`));
    return found?.[1] ?? [];
  });

/** Kodi writes the channel's name below the area that is judged. */
const zapTest = `
name: kodi
models: [stb]
nodes: { TV: check text "Alpha News" }
tests:
  - name: the next channel comes in time
    steps:
      - { measure_zap: { key: CHANNEL_UP, area_without_banner: { x: 0, y: 0, width: 1, height: 0.42 } }, id: zap }
      - condition: zap.output.data.zap_ms < 10000
      - check text "Beta Sports"
    outputs:
      zap_ms: "{{zap.output.data.zap_ms}}"
      error_ms: "{{zap.output.data.error_ms}}"
      banner: "{{zap.output.data.banner}}"
`;

describe("Kodi as a set-top box", () => {
  let lab: KodiLab;
  let remote: DriverController;
  beforeAll(async () => {
    lab = await startKodi();
    const settings = x11Factory.settings.parse({ display: lab.display });
    const [made] = x11Factory.create(settings, controllerContext("lab/box"));
    if (!made) throw new Error("The factory made no controller.");
    remote = made;
    await remote.open(never);
  });
  afterAll(async () => {
    await remote?.close();
    await lab?.stop();
  });

  const press = async (...keys: string[]) => {
    const command = remote.commands.find(({ name }) => name === "press_sequence");
    await command?.run(command.input.parse({ keys }), never);
  };
  const untilIn = (window: string, control?: string) =>
    expect
      .poll(() => lab.oracle.gui(), { timeout: 10_000 })
      .toMatchObject(control === undefined ? { window } : { window, control });
  /** The home screen, with the focus on this item of its menu, wherever that was. */
  const homeAt = async (item: string) => {
    await press("HOME");
    await untilIn("Home");
    for (let presses = 0; presses < 15; presses++) {
      const { control } = await lab.oracle.gui();
      if (control === item) return;
      await press("DOWN");
      await expect.poll(async () => (await lab.oracle.gui()).control).not.toBe(control);
    }
    throw new Error(`The home screen has no ${item}.`);
  };

  it("listens on loopback alone", () => {
    const pids = lab.pids.flatMap((pid) => [pid, ...below(pid).map((one) => one.pid)]);
    const held = new Set(pids.flatMap(socketsOf));
    const own = listeners().filter(({ inode }) => held.has(inode));
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter(({ address }) => address !== loopback)).toEqual([]);
  });

  it("moves its focus and changes its windows by the keys of a remote", async () => {
    await homeAt("Movies");
    await press("DOWN");
    await untilIn("Home", "TV shows");
    await press("RIGHT");
    await untilIn("Home", "Enter files section");
    await press("LEFT", "UP");
    await untilIn("Home", "Movies");
    await press("OK");
    await untilIn("Videos");
    await press("BACK");
    await untilIn("Home", "Movies");
  });

  it("takes the keys of our infrared remote, by the pulses that lircd sends", async () => {
    const folder = await mkdtemp(join(tmpdir(), "labwright-ir-"));
    // Kodi's own map has the names of this remote's keys.
    const box = await startLircd(folder, { remote: "linux-input-layer", socket: lab.infrared });
    const sender = await startLircd(folder, { remote: "box", socket: join(folder, "sender") });
    const infrared = makeRemote(infraredFactory, { socket: sender.socket, remote: "box" });
    try {
      await infrared.remote.open(never);
      await homeAt("Movies");
      const isTaken = async () => {
        await infrared.press("DOWN");
        const key = (await sender.sent()).at(-1) ?? "";
        execFileSync("irsend", [`--device=${box.socket}`, "simulate", received(key, "linux-input-layer")]);
        return (await lab.oracle.gui()).control;
      };
      await expect.poll(isTaken, { timeout: 5_000, interval: 300 }).not.toBe("Movies");
    } finally {
      await infrared.remote.close();
      for (const { program } of [box, sender]) await program.end(0);
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("takes the keys of the driver kodi, by JSON-RPC", async () => {
    const kodi = makeRemote(kodiFactory, { address: "127.0.0.1", transport: "tcp", port: lab.port });
    await kodi.remote.open(never);
    expect(kodi.remote.facts?.()).toEqual({ make: "Kodi", version: "20.1" });
    await homeAt("Movies");
    await kodi.press("DOWN");
    await untilIn("Home", "TV shows");
    await kodi.run("press_sequence", { keys: ["UP", "OK"] });
    await untilIn("Videos");
    await kodi.press("GUIDE");
    await untilIn("TV guide");
    await kodi.press("HOME");
    await untilIn("Home");
    await kodi.remote.close();
  });

  it("plays a channel, and changes to the next by its key", async () => {
    const { oracle } = lab;
    const started = () =>
      oracle.events
        .filter(({ method }) => method === "Player.OnAVStart")
        .map(({ data }) => JSON.stringify(data));
    await homeAt("TV");
    await press("OK");
    await untilIn("TV channels", "Alpha News");
    await press("OK");
    await untilIn("Fullscreen video");
    await expect.poll(() => started().at(-1), { timeout: 10_000 }).toContain("Alpha News");
    await press("CHANNEL_UP");
    await expect.poll(() => started().at(-1), { timeout: 10_000 }).toContain("Beta Sports");
    await press("CHANNEL_DOWN");
    await expect.poll(() => started().at(-1), { timeout: 10_000 }).toContain("Alpha News");
    await press("STOP");
    await untilIn("TV channels");
    await press("HOME");
    await untilIn("Home");
  });

  it("is measured as it changes channels, by a test case that reports the times and the banner", async () => {
    const { display } = lab;
    const controllers = { av: { x11: display, audio: "none" }, x11: { display }, video: {}, text: {} };
    const product = await openProduct(
      `devices: ${JSON.stringify([{ name: "box", model: "stb", controllers }])}\n`,
    );
    try {
      const client = await product.connect();
      await playChannel(lab);
      const { error } = await client.call("import_userinterface", { yaml: zapTest });
      expect(error).toBeUndefined();
      const { structured } = await client.call("execute_testcase", {
        ...{ testcase: "the next channel comes in time", device_id: "box", wait_ms: 60_000 },
      });
      expect(structured).toMatchObject({
        status: "passed",
        outputs: {
          zap_ms: expect.any(Number),
          error_ms: expect.any(Number),
          banner: expect.stringContaining("Beta Sports"),
        },
      });
    } finally {
      await product.dispose();
    }
  });

  it("leaves no process and no file when it is stopped", async () => {
    // Stopped already where this is tried again.
    if (!existsSync(lab.folder)) lab = await startKodi();
    const pids = [...lab.pids, ...lab.pids.flatMap((pid) => below(pid).map((one) => one.pid))];
    expect(pids.filter(runs).length).toBeGreaterThan(2);
    expect(existsSync(lab.folder)).toBe(true);
    await lab.stop();
    await expect.poll(() => pids.filter(runs)).toEqual([]);
    expect(existsSync(lab.folder)).toBe(false);
  });
});

it("leaves no process when its owner is killed", async () => {
  const built = pathToFileURL(join(process.cwd(), "mcp-server/dist/kodiBox.js")).href;
  const start = `const { startKodi } = await import(${JSON.stringify(built)}); await startKodi();`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", start], { stdio: "inherit" });
  const { pid = 0 } = owner;
  await expect
    .poll(() => below(pid).map(({ name }) => name), { timeout: 30_000 })
    .toEqual(expect.arrayContaining(["Xvfb", "kodi.bin"]));
  const pids = below(pid).map((one) => one.pid);
  owner.kill("SIGKILL");
  await expect.poll(() => pids.filter(runs), { timeout: 10_000 }).toEqual([]);
});
