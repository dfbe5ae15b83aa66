import type { ControllerFactory } from "@labwright/controllers";
import { simulatedFactory } from "@labwright/controllers/lab";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { CallContext, DeviceRef, DeviceService, Grant } from "#mcp-server/services/index.ts";
import { leaseRows, type Storage } from "#mcp-server/storage/index.ts";
import { callContext } from "../../fixtures/callContext.ts";
import { describeEachDatabase } from "../../fixtures/database.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";
import { simulatedDevices } from "../../fixtures/simulated.ts";
import { decided } from "./parts.ts";

const ann = callContext({ client: "ann" });
const bob = callContext({ client: "bob" });
const day = 86_400_000;

/** How far a promise has come, asked after everything that is due has been done. */
async function stateOf(promise: Promise<unknown>): Promise<"open" | "settled"> {
  let state: "open" | "settled" = "open";
  const settle = () => {
    state = "settled";
  };
  promise.then(settle, settle);
  await new Promise((resolve) => setImmediate(resolve));
  return state;
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

describeEachDatabase("The end of a lease", (open) => {
  let storage: Storage;
  let clock: ReturnType<typeof fakeClock>;
  let devices: DeviceService;
  let round = 0;
  const setUp = (given: Partial<Parameters<typeof simulatedDevices>[0]> = {}) =>
    simulatedDevices({ names: [`end${round}`], leases: leaseRows(storage.db), clock, ...given });
  const use = (context: CallContext, ref: DeviceRef = {}): Promise<Grant> =>
    devices.acquire(ref, context, { drives: true });

  const leases = async () =>
    (await devices.leases()).filter(({ device_id }) => device_id === `lab/end${round}`);

  beforeAll(async () => {
    storage = await open();
  });
  beforeEach(() => {
    clock = fakeClock();
    round += 1;
    devices = setUp();
  });

  /** What bob gets when he takes the device with force as soon as ann's run was asked to stop. */
  async function takenBy(running: Grant, ended: Promise<unknown>) {
    await aborted(running.signal);
    const taking = devices.takeControl(undefined, bob, true);
    expect(await stateOf(ended), "what ann runs has not stopped yet").toBe("open");
    expect(await stateOf(taking)).toBe("open");
    running.done();
    await ended;
    return taking;
  }

  test("release_control stops what runs, and the device is free when that has stopped", async () => {
    const running = await use(ann);
    const { lease } = await takenBy(running, devices.releaseControl({}, ann));
    expect(running.signal.reason).toMatchObject({ code: "CANCELLED" });
    expect(lease.fence).toBeGreaterThan(running.lease?.fence ?? 0);
  });

  test("a client that ends stops what it runs, and its device is free when that has stopped", async () => {
    const running = await use(ann);
    await takenBy(running, devices.releaseClient("ann"));
    expect(running.signal.reason).toMatchObject({
      code: "CANCELLED",
      message: expect.stringContaining("ann"),
    });
  });

  test("an expired lease stops what still runs under it before the next holder has the device", async () => {
    // A process that stood still for a time: no renewal came.
    const store = { ...leaseRows(storage.db), extend: () => new Promise<boolean>(() => {}) };
    devices = setUp({ leases: store });
    const running = await use(ann);
    const later = simulatedClockPast(61_000);
    const taking = devices.takeControl(undefined, bob, false);
    await aborted(running.signal);
    expect(running.signal.reason).toMatchObject({ code: "LEASE_EXPIRED" });
    expect(await stateOf(taking)).toBe("open");
    running.done();
    expect((await taking).lease.client).toBe("bob");
    later();
  });

  /** Time passes without a timer being run, as in a process that was stopped. */
  function simulatedClockPast(ms: number): () => void {
    const { monotonic } = clock;
    clock.monotonic = () => monotonic() + ms;
    return () => {
      clock.monotonic = monotonic;
    };
  }

  test("what does not stop holds the device for half a minute, and its commands are refused after that", async () => {
    const stubborn = await use(ann);
    const taking = devices.takeControl(undefined, bob, true);
    await aborted(stubborn.signal);
    await clock.advance(29_999);
    expect(await stateOf(taking)).toBe("open");
    await clock.advance(1);
    await taking;
    const press = async ({ device }: Grant) => {
      const commands = device.controllers[0]?.commands ?? [];
      const command = commands.find(({ name }) => name === "press_key");
      return command?.run({ key: "OK" }, new AbortController().signal, device.fence);
    };
    const next = await use(bob);
    await press(next);
    await expect(press(stubborn)).rejects.toMatchObject({ code: "FENCE_OUTDATED" });
    await press(next);
    next.done();
    stubborn.done();
  });

  test("two calls of one client that take a device at once get the same lease", async () => {
    const taken = await Promise.all([1, 2, 3].map(() => devices.takeControl(undefined, ann, false)));
    expect(new Set(taken.map(({ lease }) => lease.session_id)).size).toBe(1);
    const grant = await use(ann, { session_id: taken[0]?.lease.session_id });
    expect(grant.lease?.fence).toBe(taken[0]?.lease.fence);
    grant.done();
  });

  test("of two clients that take a device at once, one gets it", async () => {
    const taken = await Promise.allSettled(
      [ann, bob].map((context) => devices.takeControl(undefined, context, false)),
    );
    expect(taken.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("a renewal that is under way when the use ends does not hold the device for ever", async () => {
    const rows = leaseRows(storage.db);
    const [asked, answer] = [decided(), decided()];
    devices = setUp({
      leases: {
        ...rows,
        extend: async (lease) => {
          asked.end();
          await answer.work;
          return rows.extend(lease);
        },
      },
    });
    const grant = await use(ann);
    await clock.advance(20_000);
    await asked.work;
    grant.done();
    answer.end();
    await leases();
    expect(clock.waiting(), "timers: the device is closed when it is idle, and no lease is renewed").toBe(1);
    await clock.advance(61_000);
    expect(await leases()).toEqual([]);
  });

  test("a client that ends while it takes a device leaves it free", async () => {
    const rows = leaseRows(storage.db);
    const [asked, answer] = [decided(), decided()];
    devices = setUp({
      leases: {
        ...rows,
        take: async (...wanted) => {
          asked.end();
          await answer.work;
          return rows.take(...wanted);
        },
      },
    });
    const taking = devices.takeControl(undefined, ann, false);
    await asked.work;
    const ending = devices.releaseClient("ann");
    answer.end();
    await Promise.allSettled([taking, ending]);
    expect(await leases()).toEqual([]);
  });

  test("a take whose device does not open leaves a lease that its client had", async () => {
    let isBroken = false;
    const breaking: ControllerFactory = {
      ...simulatedFactory,
      create: (settings, context) =>
        simulatedFactory.create(settings, context).map((controller) => ({
          ...controller,
          isAlive: () => !isBroken,
          open: async (signal) => {
            if (isBroken) throw new Error("It does not open.");
            await controller.open(signal);
          },
        })),
    };
    devices = setUp({ factories: [breaking] });
    const { lease } = await devices.takeControl(undefined, ann, false);
    isBroken = true;
    await expect(devices.takeControl(undefined, ann, false)).rejects.toThrow();
    expect((await leases()).map(({ session_id }) => session_id)).toEqual([lease.session_id]);
    isBroken = false;
    await devices.releaseControl({}, ann);
    isBroken = true;
    await expect(devices.takeControl(undefined, bob, false)).rejects.toThrow();
    expect(await leases(), "a new one is given back").toEqual([]);
  });

  test.each([
    day,
    -day,
  ])("a wall clock that is set by %i ms neither ends nor prolongs a lease", async (jump) => {
    const { lease } = await devices.takeControl(undefined, ann, false);
    await clock.advance(299_000);
    clock.jump(jump);
    const [living] = await leases();
    expect(Date.parse(living?.expires_at ?? "") - clock.now(), "as people read it").toBe(1_000);
    const grant = await use(ann, { session_id: lease.session_id });
    await clock.advance(100_000);
    clock.jump(-jump);
    await clock.advance(199_000);
    grant.done();
    await clock.advance(300_000);
    expect(await leases()).toEqual([]);
    await expect(use(ann, { session_id: lease.session_id })).rejects.toMatchObject({ code: "LEASE_EXPIRED" });
    expect((await devices.takeControl(undefined, bob, false)).lease.client).toBe("bob");
  });

  test("a lease that an earlier process gave lasts no longer than a new one, whatever the clock says now", async () => {
    await devices.takeControl(undefined, ann, false);
    clock.jump(-day);
    devices = setUp();
    expect(await leases()).toMatchObject([{ client: "ann" }]);
    await clock.advance(300_000);
    expect(await leases()).toEqual([]);
  });

  test("DEVICE_HELD says what to pass when the lease is the caller's own", async () => {
    await devices.takeControl(undefined, ann, false);
    await expect(use(bob)).rejects.toMatchObject({
      code: "DEVICE_HELD",
      hint: expect.stringContaining("session_id"),
    });
  });
});
