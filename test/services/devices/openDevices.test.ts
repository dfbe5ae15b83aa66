import type { Controller, ControllerFactory, ControllerKind } from "@labwright/controllers";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ConfiguredDevice } from "../../../mcp-server/src/services/devices/entries.ts";
import { OpenDevices } from "../../../mcp-server/src/services/devices/openDevices.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";

const NEVER = new AbortController().signal;
const idleMs = 600_000;

type Part = Controller & { alive: boolean; kept: boolean; opened: number; closed: number };

/** A controller whose opening the test decides over. */
function part(kind: ControllerKind, opening: (signal: AbortSignal) => Promise<void> = async () => {}): Part {
  const made: Part = {
    ...{ kind, driver: "parts", commands: [], checks: [], alive: false, kept: false, opened: 0, closed: 0 },
    async open(signal) {
      made.opened += 1;
      await opening(signal);
      made.alive = true;
    },
    async close() {
      made.closed += 1;
      made.alive = false;
    },
    isAlive: () => made.alive,
    isKept: () => made.kept,
    noticesAfter: () => [],
  };
  return made;
}

function lab(parts: readonly Part[]) {
  const kinds = parts.map(({ kind }) => kind);
  const factory: ControllerFactory = {
    ...{ name: "parts", kinds, settings: z.unknown(), offers: () => [] },
    create: () => parts,
  };
  const clock = fakeClock();
  const held = new Set<string>();
  const devices = new OpenDevices({
    factories: [factory],
    contextOf: (deviceId) => ({
      deviceId,
      allowUrl: () => {},
      allowAddress: () => {},
      uploadPath: (name) => name,
      storageStatePath: (name) => name,
      unsafe: { javascript: false },
      app: () => undefined,
    }),
    clock,
    isHeld: async (id) => held.has(id),
  });
  const entry: ConfiguredDevice = {
    id: "lab/d",
    host: "lab",
    name: "d",
    model: "parts",
    kinds,
    settings: {},
  };
  return { devices, entry, clock, held };
}

/** Work whose end the test decides. */
function decided() {
  let end: (error?: Error) => void = () => {};
  const work = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  return { work, end };
}

describe("opening a device", () => {
  it("leaves out a controller that failed, and tries it again when the device is needed next", async () => {
    let works = false;
    const web = part("web");
    const av = part("av", async () => {
      if (!works) throw new Error("no picture");
    });
    const { devices, entry } = lab([web, av]);
    const first = await devices.open(entry, NEVER);
    expect([...first.controllers.keys()]).toEqual(["web"]);
    expect(first.unavailable).toEqual([{ kind: "av", reason: "no picture" }]);
    works = true;
    const second = await devices.open(entry, NEVER);
    expect([...second.controllers.keys()]).toEqual(["web", "av"]);
    expect(second.unavailable).toEqual([]);
    expect(web.opened).toBe(1);
  });

  it("goes on with the others when one has died and cannot be opened again", async () => {
    let works = true;
    const web = part("web");
    const av = part("av", async () => {
      if (!works) throw new Error("unplugged");
    });
    const { devices, entry } = lab([av, web]);
    await devices.open(entry, NEVER);
    [works, av.alive, web.alive] = [false, false, false];
    const again = await devices.open(entry, NEVER);
    expect([...again.controllers.keys()]).toEqual(["web"]);
    expect(again.unavailable).toEqual([{ kind: "av", reason: "unplugged" }]);
  });

  it("does not end for one caller when another one leaves", async () => {
    const { work, end } = decided();
    const { devices, entry } = lab([part("web", () => work)]);
    const impatient = new AbortController();
    const first = devices.open(entry, impatient.signal);
    const second = devices.open(entry, NEVER);
    impatient.abort(new Error("left"));
    await expect(first).rejects.toThrow("left");
    end();
    expect((await second).controllers.size).toBe(1);
  });

  it("is cancelled when all callers left, and begins anew for the next", async () => {
    const web = part("web", (signal) =>
      web.opened > 1
        ? Promise.resolve()
        : new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    const { devices, entry } = lab([web]);
    const impatient = new AbortController();
    const first = devices.open(entry, impatient.signal);
    await expect.poll(() => web.opened).toBe(1);
    impatient.abort(new Error("left"));
    await expect(first).rejects.toThrow("left");
    expect((await devices.open(entry, NEVER)).controllers.size).toBe(1);
    expect(web.opened).toBe(2);
  });

  it("fails with the controller's own reason when nothing opens, and is tried again", async () => {
    let works = false;
    const web = part("web", async () => {
      if (!works) throw new Error("no browser");
    });
    const { devices, entry } = lab([web]);
    await expect(devices.open(entry, NEVER)).rejects.toThrow("no browser");
    expect(devices.count()).toBe(0);
    works = true;
    await devices.open(entry, NEVER);
    expect(devices.count()).toBe(1);
  });
});

describe("a device that nobody uses", () => {
  it("is closed after ten minutes, and opens again when it is used", async () => {
    const web = part("web");
    const { devices, entry, clock } = lab([web]);
    await devices.open(entry, NEVER);
    devices.use(entry.id)();
    await clock.advance(idleMs - 1);
    expect(web.closed).toBe(0);
    await clock.advance(1);
    expect([web.closed, devices.count()]).toEqual([1, 0]);
    await devices.open(entry, NEVER);
    expect([web.opened, devices.count()]).toEqual([2, 1]);
  });

  it("is not closed while a call or run uses it, somebody holds it, or it must be kept", async () => {
    const web = part("web");
    const { devices, entry, clock, held } = lab([web]);
    await devices.open(entry, NEVER);
    const done = devices.use(entry.id);
    await clock.advance(2 * idleMs);
    expect(web.closed).toBe(0);
    done();
    held.add(entry.id);
    await clock.advance(2 * idleMs);
    expect(web.closed).toBe(0);
    held.clear();
    web.kept = true;
    await clock.advance(2 * idleMs);
    expect(web.closed).toBe(0);
    web.kept = false;
    await clock.advance(60_000);
    expect(web.closed).toBe(1);
  });
});
