import { type DiscoveredDevice, defineFactory } from "@labwright/controllers";
import { expect, it } from "vitest";
import { z } from "zod";
import type { DeviceService } from "../../../mcp-server/src/services/ports.ts";
import { callContext } from "../../fixtures/callContext.ts";
import { openProduct } from "../../fixtures/product.ts";
import { simulatedDevices } from "../../fixtures/simulated.ts";

const settings = z.strictObject({ serial: z.string().optional() });
const box = (serial: string): DiscoveredDevice => ({ serial, model: "simulated", settings: { serial } });

/** A device `lab/box` of serial BOX, and what the test has the driver see beside it. */
function lab(names = ["box"]) {
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
  const { devices, asked, opened, state, see } = lab();
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
  const { devices, see } = lab();
  see("BOX", "B1");
  expect(idsOf(devices)).toEqual(["lab/box", "lab/fake-B1"]);
});

it("a serial that is no name gets one that is, and no two get the same", () => {
  const { devices, see } = lab(["fake-B1"]);
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
  const { devices, see } = lab();
  see("B1", "B2");
  expect(await chosen(devices)).toBe("lab/box");
  await devices.takeControl("lab/box", callContext({ client: "somebody else" }), false);
  expect(await chosen(devices)).toBe("lab/box");
  await devices.takeControl("fake-B1", callContext(), false);
  expect(await chosen(devices)).toBe("lab/fake-B1");
  const alone = lab([]);
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
