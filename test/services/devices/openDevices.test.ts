import { describe, expect, it } from "vitest";
import type { OpenDevice } from "#mcp-server/services/index.ts";
import { decided, openLab, part } from "./parts.ts";

const NEVER = new AbortController().signal;
const idleMs = 600_000;
const openMs = 20_000;

const kindsOf = ({ controllers }: OpenDevice) => controllers.map(({ kind }) => kind);
const hanging = () => new Promise<never>(() => {});

describe("opening a device", () => {
  it("leaves out a controller that failed, and tries it again after a pause when the device is needed", async () => {
    let works = false;
    const web = part("web");
    const av = part("av", async () => {
      if (!works) throw new Error("no picture");
    });
    const { devices, entry, clock } = openLab([web, av]);
    const first = await devices.open(entry, NEVER);
    expect(kindsOf(first)).toEqual(["web"]);
    expect(first.unavailable).toEqual([{ driver: "second", kind: "av", reason: "no picture" }]);
    works = true;
    await devices.open(entry, NEVER);
    expect(av.opened).toBe(1);
    await clock.advance(1_000);
    const second = await devices.open(entry, NEVER);
    expect(kindsOf(second)).toEqual(["web", "av"]);
    expect(second.unavailable).toEqual([]);
    expect([web.opened, av.opened]).toEqual([1, 2]);
  });

  it("pauses twice as long after each failure", async () => {
    const av = part("av", async () => {
      throw new Error("no picture");
    });
    const { devices, entry, clock } = openLab([part("web"), av]);
    const openings: number[] = [];
    for (let second = 0; second < 8; second++) {
      await devices.open(entry, NEVER);
      await clock.advance(0);
      await clock.advance(1_000);
      openings.push(av.opened);
    }
    expect(openings).toEqual([1, 2, 2, 3, 3, 3, 3, 4]);
  });

  it("goes on with the others when one has died and cannot be opened again", async () => {
    let works = true;
    const web = part("web");
    const av = part("av", async () => {
      if (!works) throw new Error("unplugged");
    });
    const { devices, entry } = openLab([av, web]);
    await devices.open(entry, NEVER);
    [works, av.alive, web.alive] = [false, false, false];
    const again = await devices.open(entry, NEVER);
    expect(kindsOf(again)).toEqual(["web"]);
    expect(again.unavailable).toEqual([{ driver: "first", kind: "av", reason: "unplugged" }]);
  });

  it("asks its controllers by kind, then as the configuration names their drivers; two of a kind are allowed", async () => {
    const { devices, entry } = openLab([part("av"), part("remote"), part("web"), part("remote")]);
    const { controllers } = await devices.open(entry, NEVER);
    expect(controllers.map(({ kind, driver }) => `${kind} ${driver}`)).toEqual([
      "remote second",
      "remote fourth",
      "web third",
      "av first",
    ]);
    expect(entry.offers().map(({ driver }) => driver)).toEqual(["second", "fourth", "third", "first"]);
  });

  it("does not end for one caller when another one leaves", async () => {
    const { work, end } = decided();
    const { devices, entry } = openLab([part("web", () => work)]);
    const impatient = new AbortController();
    const first = devices.open(entry, impatient.signal);
    const second = devices.open(entry, NEVER);
    impatient.abort(new Error("left"));
    await expect(first).rejects.toThrow("left");
    end();
    expect(kindsOf(await second)).toEqual(["web"]);
  });

  it("is cancelled when all callers left, and begins anew for the next", async () => {
    const web = part("web", (signal) =>
      web.opened > 1
        ? Promise.resolve()
        : new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    const { devices, entry } = openLab([web]);
    const impatient = new AbortController();
    const first = devices.open(entry, impatient.signal);
    await expect.poll(() => web.opened).toBe(1);
    impatient.abort(new Error("left"));
    await expect(first).rejects.toThrow("left");
    expect(kindsOf(await devices.open(entry, NEVER))).toEqual(["web"]);
    expect(web.opened).toBe(2);
  });

  it("fails with the controller's own reason when nothing opens, and is tried again at once", async () => {
    let works = false;
    const web = part("web", async () => {
      if (!works) throw new Error("no browser");
    });
    const { devices, entry } = openLab([web]);
    await expect(devices.open(entry, NEVER)).rejects.toThrow("no browser");
    expect(devices.count()).toBe(0);
    works = true;
    await devices.open(entry, NEVER);
    expect(devices.count()).toBe(1);
  });
});

describe("a controller that hangs while it opens", () => {
  it("does not hold up the device; a call that needs it waits until its deadline, and fails with the reason", async () => {
    const av = part("av", hanging);
    const { devices, entry, clock } = openLab([part("remote"), av]);
    const device = await devices.open(entry, NEVER);
    expect(kindsOf(device)).toEqual(["remote", "av"]);
    const [, waiting] = device.controllers;
    if (!waiting) throw new Error("The device lost a controller.");
    let isOver = false;
    const ready = device.untilOpen(waiting, NEVER).finally(() => {
      isOver = true;
    });
    const told = expect(ready).rejects.toMatchObject({
      code: "CONTROLLER_UNAVAILABLE",
      message: expect.stringContaining("second did not open within 20 s"),
    });
    await clock.advance(openMs - 1);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await told;
    const later = await devices.open(entry, NEVER);
    expect(later.unavailable).toEqual([
      { driver: "second", kind: "av", reason: "second did not open within 20 s." },
    ]);
  });

  it("is closed, and tried again after the pause", async () => {
    const av = part("av", hanging);
    const { devices, entry, clock } = openLab([part("remote"), av]);
    await devices.open(entry, NEVER);
    await clock.advance(openMs);
    await clock.advance(3_000);
    expect([av.opened, av.closed]).toEqual([1, 1]);
    await devices.open(entry, NEVER);
    await expect.poll(() => av.opened).toBe(2);
  });

  it("is closed once more when it opens after it was given up", async () => {
    const { work, end } = decided();
    const av = part("av", () => work);
    const { devices, entry, clock } = openLab([part("remote"), av]);
    await devices.open(entry, NEVER);
    await clock.advance(openMs + 3_000);
    expect([av.closed, av.alive]).toEqual([1, false]);
    end();
    await expect.poll(() => av.closed).toBe(2);
    expect(av.alive).toBe(false);
  });

  it("leaves nothing open that opens while the device is being closed", async () => {
    const { work, end } = decided();
    const av = part("av", () => work);
    const { devices, entry, clock } = openLab([part("remote"), av]);
    await devices.open(entry, NEVER);
    const closing = devices.closeAll();
    await clock.advance(0);
    await clock.advance(3_000);
    await closing;
    end();
    await expect.poll(() => av.closed).toBeGreaterThan(1);
    expect(av.alive).toBe(false);
  });

  it("comes behind the others of the device while it is tried again", async () => {
    let isFirst = true;
    const infrared = part("remote", async () => {
      if (!isFirst) await hanging();
      isFirst = false;
      throw new Error("unplugged");
    });
    const { devices, entry, clock } = openLab([infrared, part("remote")]);
    await devices.open(entry, NEVER);
    await clock.advance(1_000);
    const again = await devices.open(entry, NEVER);
    expect(again.controllers.map(({ driver }) => driver)).toEqual(["second", "first"]);
  });
});

describe("a device that no one uses", () => {
  it("is closed after ten minutes, and opens again when it is used", async () => {
    const web = part("web");
    const { devices, entry, clock } = openLab([web]);
    await devices.open(entry, NEVER);
    devices.use(entry.id)();
    await clock.advance(idleMs - 1);
    expect(web.closed).toBe(0);
    await clock.advance(1);
    expect([web.closed, devices.count()]).toEqual([1, 0]);
    await devices.open(entry, NEVER);
    expect([web.opened, devices.count()]).toEqual([2, 1]);
  });

  it("is not closed while a call or run uses it, someone holds it, or it must be kept", async () => {
    const web = part("web");
    const { devices, entry, clock, held } = openLab([web]);
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
