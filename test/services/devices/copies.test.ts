import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DiscoveredDevice, defineFactory } from "@labwright/controllers";
import { simulatedFactory } from "@labwright/controllers/lab";
import { afterEach, beforeEach, expect, it, test } from "vitest";
import { z } from "zod";
import { createTemporaryFolders } from "#mcp-server/services/devices/devicePlaces.ts";
import type { DeviceService } from "#mcp-server/services/index.ts";
import { callContext } from "../../fixtures/callContext.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";
import { openProduct } from "../../fixtures/product.ts";
import { simulatedDevices } from "../../fixtures/simulated.ts";

const ann = callContext({ client: "ann" });
const bob = callContext({ client: "bob" });
const plain = { headed: false };
const copied = { ...simulatedFactory, copy: (settings: unknown) => settings };

function lab(options: Parameters<typeof simulatedDevices>[0] = {}) {
  const devices = simulatedDevices({ factories: [copied], ...options });
  return { devices, names: () => devices.list().map(({ name }) => name) };
}

const press = (device: Awaited<ReturnType<ReturnType<typeof lab>["devices"]["open"]>>) => {
  const command = device.controllers
    .flatMap(({ commands }) => commands)
    .find(({ name }) => name === "press_key");
  return command?.run(command.input.parse({ key: "DOWN" }), new AbortController().signal, device.fence);
};

test("a copy is a device of its own, held from its beginning, and gone with its lease", async () => {
  const { devices, names } = lab();
  const { lease: base } = await devices.takeControl("box", ann, false);
  const { lease, device } = await devices.takeCopy("box", ann, plain);
  expect(device).toMatchObject({ id: "lab/box-2", model: "simulated" });
  expect(lease.session_id).not.toBe(base.session_id);
  expect(names()).toEqual(["box", "box-2"]);
  await expect(devices.takeControl("box-2", bob, false)).rejects.toMatchObject({ code: "DEVICE_HELD" });
  expect(devices.openCount()).toBe(2);
  await devices.releaseControl({ session_id: lease.session_id }, ann);
  expect(names()).toEqual(["box"]);
  expect(devices.openCount()).toBe(1);
  await expect(devices.takeControl("box-2", bob, false)).rejects.toMatchObject({ code: "DEVICE_NOT_FOUND" });
});

test("the copies of a client end with it", async () => {
  const { devices, names } = lab();
  await devices.takeCopy("box", ann, plain);
  await devices.takeCopy("box", bob, plain);
  await devices.takeCopy("box", ann, plain);
  expect(names()).toEqual(["box", "box-2", "box-3", "box-4"]);
  await devices.releaseClient("ann");
  expect(names()).toEqual(["box", "box-3"]);
});

test("a copy whose lease expired is closed", async () => {
  const clock = fakeClock();
  const { devices, names } = lab({ clock });
  await devices.takeCopy("box", ann, plain);
  await clock.advance(240_000);
  expect(names()).toEqual(["box", "box-2"]);
  await clock.advance(120_000);
  await expect.poll(names).toEqual(["box"]);
  expect(devices.openCount()).toBe(0);
});

test("the next copy of a name has nothing of the one before, and its holder cannot reach it", async () => {
  const { devices } = lab();
  const first = await devices.takeCopy("box", ann, plain);
  await press(first.device);
  await devices.releaseClient("ann");
  const second = await devices.takeCopy("box", bob, plain);
  expect(second.device.id).toBe(first.device.id);
  expect(second.device.controllers[0]).not.toBe(first.device.controllers[0]);
  const ref = { session_id: first.lease.session_id };
  await expect(devices.acquire(ref, ann, { drives: true })).rejects.toMatchObject({
    code: "LEASE_NOT_FOUND",
  });
  await expect(devices.acquire({ device_id: "box-2" }, ann, { drives: true })).rejects.toMatchObject({
    code: "DEVICE_HELD",
  });
});

test("a call that names no device means the one of the configuration, however many copies there are", async () => {
  const { devices } = lab();
  await devices.takeCopy("box", ann, plain);
  const grant = await devices.acquire({}, bob, { drives: true });
  expect(grant.device.id).toBe("lab/box");
  grant.done();
});

test("a device and its copies are at most as many as may run", async () => {
  const { devices } = lab({ mostDevices: 3 });
  await devices.takeControl("box", ann, false);
  await devices.takeCopy("box", ann, plain);
  await devices.takeCopy("box", ann, plain);
  await expect(devices.takeCopy("box", ann, plain)).rejects.toMatchObject({
    code: "INSUFFICIENT_RESOURCES",
    message: expect.stringContaining("limits.max_parallel_devices"),
  });
});

test("what there is once is not copied, nor is a copy", async () => {
  const { devices, names } = lab({ factories: [simulatedFactory] });
  await expect(devices.takeCopy("box", ann, plain)).rejects.toMatchObject({ code: "DEVICE_NOT_COPIED" });
  expect(names()).toEqual(["box"]);
  const other = lab();
  await other.devices.takeCopy("box", ann, plain);
  await expect(other.devices.takeCopy("box-2", ann, plain)).rejects.toMatchObject({
    code: "DEVICE_NOT_COPIED",
  });
});

test("a copy that does not open leaves nothing behind", async () => {
  const broken = { ...copied, copy: () => ({ fail_at_open: "it is broken" }) };
  const { devices, names } = lab({ factories: [broken] });
  await expect(devices.takeCopy("box", ann, plain)).rejects.toThrow();
  expect(names()).toEqual(["box"]);
  expect(await devices.leases()).toEqual([]);
});

const settings = z.strictObject({ serial: z.string().optional() });
const box = (serial: string): DiscoveredDevice => ({ serial, model: "simulated", settings: { serial } });

/** A device `lab/box` of serial BOX, and what the test has the driver see next to it. */
function discovering(names = ["box"]) {
  let tell: (found: readonly DiscoveredDevice[]) => void = () => {};
  const asked: unknown[] = [];
  const opened: unknown[] = [];
  const state = { isEnded: false };
  const factory = defineFactory({
    ...{ name: "fake", kinds: ["remote"], settings, offers: () => [] },
    claims: ({ serial }) => (serial === undefined ? [] : [`serial:${serial}`]),
    discover(configured, listener) {
      asked.push(...configured);
      tell = listener;
      return () => {
        state.isEnded = true;
      };
    },
    create(given) {
      opened.push(given);
      return [
        {
          ...{ kind: "remote", commands: [], checks: [], noticesAfter: () => [] },
          ...{ open: async () => {}, close: async () => {}, isAlive: () => true },
        },
      ];
    },
  });
  const devices = simulatedDevices({ names, factories: [factory], controllers: { fake: { serial: "BOX" } } });
  return { devices, asked, opened, state, see: (...serials: string[]) => tell(serials.map(box)) };
}
const idsOf = (devices: DeviceService) => devices.list().map(({ id }) => id);
const chosen = async (devices: DeviceService) => (await devices.peek({}, callContext())).entry.id;

it("devices that are discovered come and go, behind those of the configuration, under names that stay", async () => {
  const { devices, asked, opened, state, see } = discovering();
  expect(asked).toEqual([{ serial: "BOX" }]);
  expect(idsOf(devices)).toEqual(["lab/box"]);
  see("B2", "B1");
  expect(idsOf(devices)).toEqual(["lab/box", "lab/fake-B2", "lab/fake-B1"]);
  see("B1");
  expect(idsOf(devices)).toEqual(["lab/box", "lab/fake-B1"]);
  const { done } = await devices.acquire({ device_id: "fake-B1" }, callContext(), { drives: true });
  done();
  expect(opened).toEqual([{ serial: "B1" }]);
  expect(() => devices.find("fake-B2")).toThrow("No device");
  await devices.close();
  expect(state.isEnded).toBe(true);
});

it("one that the configuration names by its serial is that device alone", () => {
  const { devices, see } = discovering();
  see("BOX", "B1");
  expect(idsOf(devices)).toEqual(["lab/box", "lab/fake-B1"]);
});

it("a serial that is not a name gets one that is, and no two get the same", () => {
  const { devices, see } = discovering(["fake-B1"]);
  see("10.0.0.5:5555", "10.0.0.5/5555", "B1", "x".repeat(100));
  const [, ...found] = devices.list().map(({ name }) => name);
  expect(new Set(found).size).toBe(4);
  for (const name of found) expect(name).toMatch(/^[A-Za-z0-9][\w.-]{0,62}$/);
  expect(found).not.toContain("fake-B1");
  const before = idsOf(devices);
  see("10.0.0.5:5555", "10.0.0.5/5555", "B1", "x".repeat(100));
  expect(idsOf(devices)).toEqual(before);
});

it("is never chosen unnamed while there is a configured one, unless the caller holds it", async () => {
  const { devices, see } = discovering();
  see("B1", "B2");
  expect(await chosen(devices)).toBe("lab/box");
  await devices.takeControl("lab/box", callContext({ client: "somebody else" }), false);
  expect(await chosen(devices)).toBe("lab/box");
  await devices.takeControl("fake-B1", callContext(), false);
  expect(await chosen(devices)).toBe("lab/fake-B1");
  const alone = discovering([]);
  alone.see("B1");
  expect(await chosen(alone.devices)).toBe("lab/fake-B1");
});

it("simulated boxes nearby are listed, driven by their names, and left alone otherwise", async () => {
  const product = await openProduct(
    "devices: [{ name: box, model: simulated, controllers: { simulated: { serial: S1, nearby: [S1, S2] } } }]",
  );
  try {
    const client = await product.connect();
    const { structured } = await client.call("list_hosts");
    expect(structured.hosts).toMatchObject([
      { devices: [{ id: "lab/box" }, { id: "lab/simulated-S2", discovered: true }] },
    ]);
    expect(structured).not.toHaveProperty("hosts.0.devices.0.discovered");
    const press = { actions: [{ command: "press_key", params: { key: "DOWN" } }] };
    expect((await client.call("execute_device_action", press)).structured).toMatchObject({
      status: "passed",
    });
    expect((await client.call("list_hosts")).structured.hosts).toMatchObject([
      { devices: [{ state: expect.stringContaining("yours") }, { state: "free" }] },
    ]);
    const named = { ...press, device_id: "simulated-S2" };
    expect((await client.call("execute_device_action", named)).structured).toMatchObject({
      status: "passed",
    });
  } finally {
    await product.dispose();
  }
});

let root: string;

beforeEach(async () => {
  root = join(await mkdtemp(join(tmpdir(), "labwright-temporary-")), "temporary");
});
afterEach(() => rm(root, { recursive: true, force: true }));

it("gives each asker an empty folder, and removes those of one device alone", async () => {
  const folders = createTemporaryFolders(root);
  const [first, second, other] = [
    await folders.make("lab/box"),
    await folders.make("lab/box"),
    await folders.make("lab/box-2"),
  ];
  expect(new Set([first, second, other]).size).toBe(3);
  expect(await readdir(first)).toEqual([]);
  await writeFile(join(first, "frame.jpeg"), "x");
  await folders.removeAll("lab/box");
  await expect(readdir(first)).rejects.toThrow("ENOENT");
  expect(await readdir(other)).toEqual([]);
  expect(await readdir(await folders.make("lab/box"))).toEqual([]);
});

it("removes at its start what a dead server left", async () => {
  const left = join(root, "lab%2Fbox", "t-left");
  await mkdir(left, { recursive: true });
  await createTemporaryFolders(root).make("lab/other");
  await expect(readdir(left)).rejects.toThrow("ENOENT");
});
