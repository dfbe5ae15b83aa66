import { beforeAll, beforeEach, expect, test } from "vitest";
import type { CallContext, DeviceService } from "#mcp-server/services/index.ts";
import { leaseRows, type Storage } from "#mcp-server/storage/index.ts";
import { callContext } from "../../fixtures/callContext.ts";
import { describeEachDatabase } from "../../fixtures/database.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";
import { simulatedDevices } from "../../fixtures/simulated.ts";

const ann = callContext({ client: "ann" });
const bob = callContext({ client: "bob" });

describeEachDatabase("Leases", (open) => {
  let storage: Storage;
  let clock: ReturnType<typeof fakeClock>;
  let devices: DeviceService;
  let round = 0;
  const setUp = (names: readonly string[]) =>
    simulatedDevices({ names, leases: leaseRows(storage.db), clock });
  const drive = async (context: CallContext, ref = {}) => {
    const grant = await devices.acquire(ref, context, { drives: true });
    grant.done();
    return grant;
  };

  beforeAll(async () => {
    storage = await open();
  });
  beforeEach(() => {
    clock = fakeClock();
    round += 1;
    devices = setUp([`box${round}`]);
  });

  test("a held device is refused with its holder, the time and the free devices", async () => {
    devices = setUp([`one${round}`, `two${round}`]);
    await devices.takeControl(`one${round}`, ann, false);
    const refused = devices.takeControl(`one${round}`, bob, false);
    await expect(refused).rejects.toMatchObject({
      code: "DEVICE_HELD",
      details: { holder: "ann", until: "2026-01-01T00:05:00.000Z", free: [`lab/two${round}`] },
    });
    await expect(drive(bob, { device_id: `one${round}` })).rejects.toMatchObject({ code: "DEVICE_HELD" });
  });

  test("a lease ends after five minutes without a call, and each call pushes its end on", async () => {
    const { lease } = await devices.takeControl(undefined, ann, false);
    await clock.advance(299_000);
    await drive(ann, { session_id: lease.session_id });
    await clock.advance(299_000);
    await drive(ann, { session_id: lease.session_id });
    await clock.advance(301_000);
    await expect(drive(ann, { session_id: lease.session_id })).rejects.toMatchObject({
      code: "LEASE_EXPIRED",
    });
    expect((await devices.takeControl(undefined, bob, false)).lease.fence).toBeGreaterThan(lease.fence);
  });

  test("quick calls renew a lease once a second; one given back or taken is not remembered", async () => {
    let written = 0;
    const rows = leaseRows(storage.db);
    const counting = {
      ...rows,
      extend: (...given: Parameters<typeof rows.extend>) => {
        written += 1;
        return rows.extend(...given);
      },
    };
    devices = simulatedDevices({ names: [`quick${round}`], leases: counting, clock });
    const first = await drive(ann);
    for (let call = 0; call < 5; call++) await drive(ann);
    expect(written).toBe(0);
    await expect(drive(bob)).rejects.toMatchObject({ code: "DEVICE_HELD" });
    await clock.advance(1_000);
    await drive(ann);
    expect(written).toBe(1);
    expect((await rows.ofDevice(first.device.id))?.expires_at).toBe("2026-01-01T00:01:01.000Z");
    await devices.takeControl(undefined, bob, true);
    await expect(drive(ann)).rejects.toMatchObject({ code: "DEVICE_HELD" });
  });

  test("force takes the device, stops the former holder's run, and names the taker in its next call", async () => {
    const { lease } = await devices.takeControl(undefined, ann, false);
    const running = await devices.acquire({ session_id: lease.session_id }, ann, { drives: true });
    const taking = devices.takeControl(undefined, bob, true);
    await new Promise((resolve) => running.signal.addEventListener("abort", resolve, { once: true }));
    expect(running.signal.reason).toMatchObject({ code: "LEASE_LOST" });
    running.done();
    const taken = await taking;
    await expect(drive(ann, { session_id: lease.session_id })).rejects.toMatchObject({
      code: "LEASE_LOST",
      message: expect.stringContaining("bob"),
    });
    expect(taken.lease.fence).toBeGreaterThan(lease.fence);
  });

  test("a driving call without a handle leases a free device for a minute", async () => {
    await drive(ann);
    await expect(drive(bob)).rejects.toMatchObject({ code: "DEVICE_HELD" });
    await clock.advance(61_000);
    expect((await drive(bob)).lease).toMatchObject({ client: "bob", implicit: true });
  });

  test("a lease in use is renewed for as long as its call runs", async () => {
    const grant = await devices.acquire({}, ann, { drives: true });
    for (let minute = 0; minute < 5; minute++) {
      await clock.advance(20_000);
      const mine = async () =>
        (await devices.leases()).find(({ device_id }) => device_id === grant.device.id);
      await expect.poll(mine).toMatchObject({ client: "ann" });
    }
    await expect(drive(bob)).rejects.toMatchObject({ code: "DEVICE_HELD" });
    grant.done();
  });

  test("taking one's own device again keeps the handle, and turns an implicit lease into a full one", async () => {
    const { lease: implicit } = await drive(ann);
    const { lease } = await devices.takeControl(undefined, ann, false);
    expect(lease).toMatchObject({ session_id: implicit?.session_id, implicit: false });
  });

  test("a handle and a device that disagree are refused", async () => {
    devices = setUp([`one${round}`, `two${round}`]);
    const { lease } = await devices.takeControl(`one${round}`, ann, false);
    const mixed = { session_id: lease.session_id, device_id: `two${round}` };
    await expect(drive(ann, mixed)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  test("a handle of another principal is not found", async () => {
    const { lease } = await devices.takeControl(undefined, ann, false);
    const stranger = callContext({ principal: "other", client: "ann" });
    await expect(drive(stranger, { session_id: lease.session_id })).rejects.toMatchObject({
      code: "LEASE_NOT_FOUND",
    });
  });

  test("what a client held is free when the client ends or gives it back", async () => {
    const { lease } = await devices.takeControl(undefined, ann, false);
    await devices.releaseClient("ann");
    await expect(drive(ann, { session_id: lease.session_id })).rejects.toMatchObject({
      code: "LEASE_NOT_FOUND",
    });
    await devices.takeControl(undefined, bob, false);
    expect((await devices.releaseControl({}, bob)).client).toBe("bob");
    await expect(devices.releaseControl({}, bob)).rejects.toMatchObject({ code: "LEASE_NOT_FOUND" });
  });

  test("reads need no lease", async () => {
    await devices.takeControl(undefined, ann, false);
    const grant = await devices.acquire({}, bob, { drives: false });
    expect(grant.lease).toBeUndefined();
    grant.done();
  });

  test("a lease survives a restart of the service", async () => {
    const { lease } = await devices.takeControl(undefined, ann, false);
    devices = setUp([`box${round}`]);
    expect((await drive(ann, { session_id: lease.session_id })).lease?.session_id).toBe(lease.session_id);
  });

  test("without a name, the leased device is used, else the only free one, else it is ambiguous", async () => {
    devices = setUp([`one${round}`, `two${round}`]);
    await expect(drive(ann)).rejects.toMatchObject({
      code: "DEVICE_AMBIGUOUS",
      details: { devices: [`lab/one${round}`, `lab/two${round}`] },
    });
    await devices.takeControl(`two${round}`, ann, false);
    expect((await drive(ann)).device.name).toBe(`two${round}`);
    expect((await drive(bob)).device.name).toBe(`one${round}`);
  });

  test("an unknown device is answered with the nearest", async () => {
    const unknown = devices.takeControl(`bax${round}`, ann, false);
    await expect(unknown).rejects.toMatchObject({
      code: "DEVICE_NOT_FOUND",
      message: expect.stringContaining(`box${round}`),
    });
  });
});
