import { type ControllerContext, defineCheck, type Frame } from "@labwright/controllers";
import { simulatedFactory, simulatedInfraredFactory } from "@labwright/controllers/lab";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { offeringOf } from "#mcp-server/services/devices/findCommand.ts";
import { statusOf } from "#mcp-server/services/devices/inventory.ts";
import { getPort } from "#mcp-server/services/devices/portOf.ts";
import type { OpenDevice } from "#mcp-server/services/index.ts";
import { openBox, testSecrets } from "../../fixtures/simulated.ts";
import { decided, executorsOf, noting, openLab, type Part, part } from "./parts.ts";

const NEVER = new AbortController().signal;
const openMs = 20_000;
const hanging = () => new Promise<never>(() => {});

const { actions, verifications } = executorsOf();

const press = (device: OpenDevice, more: { action_type?: string } = {}) =>
  actions.run(
    device,
    {
      actions: [{ command: "press_key", params: { key: "OK" }, ...more }],
      retry_actions: [],
      failure_actions: [],
    },
    { signal: NEVER },
  );

const picture = (width: number): Frame => ({
  ...{ mimeType: "image/png", bytes: new Uint8Array(), width, height: 10, rotation: 0 },
  takenAt: "2026-01-01T00:00:00.000Z",
});
const screenOf = (width: number) => ({ screen: { capture: async () => picture(width) } });

function contextOf({ context }: Part): ControllerContext {
  if (!context) throw new Error("The controller was not made yet.");
  return context;
}

describe("a command that several controllers offer", () => {
  it("is run by the first that is open, and not by one that hangs", async () => {
    const log: string[] = [];
    const infrared = part("remote", hanging, { commands: [noting("press_key", log)] });
    const { devices, entry } = openLab([
      infrared,
      part("remote", undefined, { commands: [noting("press_key", log)] }),
    ]);
    expect(await press(await devices.open(entry, NEVER))).toMatchObject({ ok: true });
    expect(log).toHaveLength(1);
  });

  it("is run by the kind or driver that its action names", async () => {
    const [first, second]: string[][] = [[], []];
    const { devices, entry } = openLab([
      part("remote", undefined, { commands: [noting("press_key", first ?? [])] }),
      part("desktop", undefined, { commands: [noting("press_key", second ?? [])] }),
    ]);
    const device = await devices.open(entry, NEVER);
    await press(device, { action_type: "second" });
    await press(device, { action_type: "desktop" });
    await press(device, { action_type: "remote" });
    expect([first?.length, second?.length]).toEqual([1, 2]);
    await expect(press(device, { action_type: "infrared" })).rejects.toMatchObject({
      code: "ACTION_NOT_FOUND",
      message:
        'lab/d has no controller "infrared" for the command "press_key"; it has remote, first, desktop, second.',
      hint: "Name one of these, or leave the type out.",
    });
  });

  it("goes to the next one when its controller died in the run", async () => {
    const log: string[] = [];
    const first = part("remote", undefined, { commands: [noting("press_key", ["unused"])] });
    const { devices, entry } = openLab([
      first,
      part("desktop", undefined, { commands: [noting("press_key", log)] }),
    ]);
    const device = await devices.open(entry, NEVER);
    first.alive = false;
    await press(device);
    expect(log).toHaveLength(1);
  });
});

it("a box of two controllers of which one hangs takes its first command", async () => {
  const box = await openBox({
    factories: [simulatedInfraredFactory, simulatedFactory],
    controllers: { simulated_infrared: { hang_at_open: true } },
  });
  expect(box.controllers.map(({ driver }) => driver)).toEqual(["simulated_infrared", "simulated"]);
  expect(await press(box)).toMatchObject({ ok: true });
});

describe("a command whose controller cannot be used", () => {
  it("waits for a controller that is being opened, and fails with the reason at its deadline", async () => {
    const remote = part("remote", hanging, { commands: [noting("press_key", [])] });
    const { devices, entry, clock } = openLab([part("web"), remote]);
    const run = press(await devices.open(entry, NEVER));
    await clock.advance(openMs);
    expect(await run).toMatchObject({
      ok: false,
      failure: {
        code: "CONTROLLER_UNAVAILABLE",
        message: expect.stringContaining("did not open within 20 s"),
      },
    });
    await clock.advance(0);
    await expect(press(await devices.open(entry, NEVER))).rejects.toMatchObject({
      code: "CONTROLLER_UNAVAILABLE",
      message: expect.stringContaining("remote (second) is unavailable"),
    });
  });

  it("says that its controller was lost, and what to do", async () => {
    const dying = { ...noting("press_key", []) };
    const remote = part("remote", undefined, { commands: [dying] });
    dying.run = async () => {
      remote.alive = false;
      throw new Error("socket hang up.");
    };
    const { devices, entry } = openLab([remote, part("web")]);
    const device = await devices.open(entry, NEVER);
    expect(await press(device)).toMatchObject({
      failure: { code: "DEVICE_LOST", message: expect.stringContaining("The next call opens it again") },
    });
    expect(statusOf(device)).toContain("remote (first) offline");
  });

  it("is refused with the reason when an open controller withholds it, before anything runs", async () => {
    const withheld = () => [
      { name: "press_key", reason: "the system has no key events; use click_element." },
    ];
    const remote = part("remote", undefined, { commands: [noting("press_key", [])], withheld });
    const { devices, entry } = openLab([remote]);
    expect(actions.describe(offeringOf(entry, undefined), undefined).commands).toContain("press_key");
    const device = await devices.open(entry, NEVER);
    const refused = {
      code: "ACTION_NOT_FOUND",
      message: expect.stringContaining("the system has no key events"),
    };
    await expect(press(device)).rejects.toMatchObject(refused);
    expect(actions.describe(offeringOf(entry, device), undefined).commands).toBe("");
    const action = { command: "press_key", params: { key: "OK" } };
    expect(() => actions.validate(offeringOf(entry, device), [action])).toThrow(
      "the system has no key events",
    );
  });
});

describe("a port that several controllers have", () => {
  it("of a picture is the one that a viewer sees, unless the device names another", async () => {
    const parts = () => [part("remote", undefined, screenOf(1)), part("av", undefined, screenOf(2))];
    const widthOf = async ({ devices, entry }: ReturnType<typeof openLab>) => {
      const device = await devices.open(entry, NEVER);
      return (await (await getPort(device, "screen", NEVER)).capture({}, NEVER)).width;
    };
    expect(await widthOf(openLab(parts()))).toBe(2);
    expect(await widthOf(openLab(parts(), { screen: "first" }))).toBe(1);
    expect(await widthOf(openLab(parts(), { screen: "remote" }))).toBe(1);
  });

  it("is the next one when the first cannot be opened; without any it says what could not", async () => {
    const broken = part("av", async () => Promise.reject(new Error("no capture card.")), screenOf(2));
    const { devices, entry } = openLab([part("web"), broken, part("remote", undefined, screenOf(1))]);
    const device = await devices.open(entry, NEVER);
    const { capture } = await getPort(device, "screen", NEVER);
    expect((await capture({}, NEVER)).width).toBe(1);
    await expect(getPort(device, "logs", NEVER)).rejects.toMatchObject({
      code: "CONTROLLER_UNAVAILABLE",
      message: "lab/d gives no log. av (second) is unavailable: no capture card.",
    });
  });
});

describe("what a device lends its controllers", () => {
  it("is the ports of all of them, which wait until their controllers are open", async () => {
    const { work, end } = decided();
    const text = part("verification_text");
    const { devices, entry } = openLab([text, part("av", () => work, screenOf(7))]);
    await devices.open(entry, NEVER);
    const taken = contextOf(text).device.screen().capture({}, NEVER);
    end();
    expect((await taken).width).toBe(7);
  });

  it("names what is missing and what could not be opened", async () => {
    const text = part("verification_text");
    const broken = part("av", async () => Promise.reject(new Error("no capture card.")));
    const { devices, entry } = openLab([text, broken]);
    await devices.open(entry, NEVER);
    const { device } = contextOf(text);
    const missing = { code: "CONTROLLER_UNAVAILABLE", message: expect.stringContaining("no capture card") };
    for (const ask of [device.screen, device.elements, device.focus, device.frames])
      expect(ask).toThrow(expect.objectContaining(missing));
    await expect(device.press("OK", NEVER)).rejects.toMatchObject(missing);
  });

  it("is a key of another driver, pressed by the lease of the command that asks", async () => {
    const log: string[] = [];
    const relayed = { ...noting("click_text", []) };
    const text = part("desktop", undefined, { commands: [relayed] });
    relayed.run = (_input, signal) => contextOf(text).device.press("OK", signal);
    const { devices, entry } = openLab([
      text,
      part("remote", undefined, { commands: [noting("press_key", log)] }),
    ]);
    const device = await devices.open(entry, NEVER);
    const click = device.controllers
      .flatMap(({ commands }) => commands)
      .find(({ name }) => name === "click_text");
    await click?.run({}, NEVER, 5);
    expect(log).toEqual(["press_key OK 5"]);
    await expect(click?.run({}, NEVER, 4)).rejects.toMatchObject({ code: "FENCE_OUTDATED" });
  });
});

it("a check waits for its controller too, and a device without one says so", async () => {
  const seen = defineCheck({
    name: "text_visible",
    description: "A text is seen",
    input: z.strictObject({}),
    judges: () => "presence",
    read: async () => ({ holds: true, expected: "it", actual: "it" }),
  });
  const { work, end } = decided();
  const { devices, entry } = openLab([
    part("web"),
    part("verification_text", () => work, { checks: [seen] }),
  ]);
  const options = { passCondition: "all", timeoutMs: 1_000, signal: NEVER } as const;
  const report = verifications.check(
    await devices.open(entry, NEVER),
    [{ command: "text_visible", params: {} }],
    options,
  );
  end();
  expect(await report).toMatchObject({ pass: true });
});

it("fills secrets in the settings of a driver when its controllers are made, and nowhere else", async () => {
  const { devices, entry, made } = openLab([part("web")], {
    controllers: { first: { password: "{{secret.PIN}}" } },
    fill: testSecrets({ PIN: "9876" }).fill,
  });
  const device = await devices.open(entry, NEVER);
  expect(made).toEqual([{ password: "9876" }]);
  expect(JSON.stringify([device, entry])).not.toContain("9876");
});
