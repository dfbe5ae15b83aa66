import { simulatedFactory } from "@labwright/controllers/lab";
import { expect, test } from "vitest";
import { callContext } from "../../fixtures/callContext.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";
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
