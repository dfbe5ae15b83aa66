import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
  type ControllerContext,
  DeviceError,
  DispatchRecord,
  type DriverController,
  FrameHub,
  powerFactories,
} from "@labwright/controllers";
import { loginDeviceByIp } from "tp-link-tapo-connect";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { controllerContract } from "../../controllers/contract.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { type Plug, type PlugKind, plugKinds, plugLogin, startPlug } from "../../lab/tv/power/plug.ts";
import { startStrip, stripMakers } from "../../lab/tv/power/strip.ts";

const never = new AbortController().signal;
const { user, password } = plugLogin;

function factoryOf(name: string) {
  const factory = powerFactories.find((one) => one.name === name);
  if (!factory) throw new Error(`There is no driver ${name}.`);
  return factory;
}

function make(driver: string, settings: object, context: Partial<ControllerContext> = {}): DriverController {
  const factory = factoryOf(driver);
  const whole = { ...controllerContext("lab/tv"), ...context };
  const [controller] = factory.create(factory.settings.parse(settings), whole);
  if (!controller) throw new Error("The factory made no controller.");
  return controller;
}

const settingsOf = ({ url, host }: Plug, secret = password): Record<PlugKind, [string, object]> => ({
  tasmota: ["tasmota", { url, password: secret }],
  shelly1: ["shelly", { url, generation: 1, password: secret }],
  shelly2: ["shelly", { url, password: secret }],
  home_assistant: ["home_assistant_power", { url, entity: "switch.tv_plug", token: secret }],
  tapo: ["tapo", { host, user, password: secret }],
});

function run({ commands }: DriverController, name: string, params = {}, signal = never) {
  const command = commands.find((one) => one.name === name);
  if (!command) throw new Error(`There is no command ${name}.`);
  return command.run(command.input.parse(params), signal);
}

function isOn({ checks }: DriverController) {
  const [check] = checks;
  if (!check) throw new Error("There is no check.");
  return check.read(check.input.parse({ state: "on" }), never);
}

const failureOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => Promise.reject(new Error("It did not fail.")),
    (error: Error) => error,
  );

async function plugOf(kind: PlugKind): Promise<Plug> {
  const plug = await startPlug(kind);
  onTestFinished(() => plug.close());
  return plug;
}

describe("the stand-ins satisfy clients that are not ours", () => {
  it("Tapo: tp-link-tapo-connect", async () => {
    const plug = await plugOf("tapo");
    const client = await loginDeviceByIp(user, password, plug.host);
    await client.turnOff();
    expect(plug.isOn).toBe(false);
    expect(await client.getDeviceInfo()).toMatchObject({ device_on: false });
    await expect(loginDeviceByIp(user, "another", plug.host)).rejects.toThrow();
  });

  it("Shelly 2: curl's digest access", async () => {
    const plug = await plugOf("shelly2");
    const curl = (secret: string) =>
      promisify(execFile)("curl", [
        ...["-s", "--noproxy", "*", "--digest", "-u", `${user}:${secret}`],
        ...["-o", "/dev/null", "-w", "%{http_code}", `${plug.url}/rpc/Switch.Set?id=0&on=false`],
      ]);
    expect((await curl("another")).stdout).toBe("401");
    expect(plug.isOn).toBe(true);
    expect((await curl(password)).stdout).toBe("200");
    expect(plug.isOn).toBe(false);
  });
});

describe.each(plugKinds)("the plug %s", (kind) => {
  it("is switched, read and judged, and refuses another password without telling it", async () => {
    const plug = await plugOf(kind);
    const controller = make(...settingsOf(plug)[kind]);
    await controller.open(never);
    expect(await run(controller, "power_off")).toMatchObject({ data: { state: "off" } });
    expect(plug.isOn).toBe(false);
    expect((await run(controller, "power_state")).data).toEqual({ state: "off" });
    expect(await isOn(controller)).toMatchObject({ holds: false, actual: "it is off" });
    await run(controller, "power_on");
    expect(plug.isOn).toBe(true);
    expect(await isOn(controller)).toMatchObject({ holds: true });
    const stranger = make(...settingsOf(plug, "not the one")[kind]);
    const failure = await failureOf(run(stranger, "power_off"));
    expect(failure).toMatchObject({ code: "DEVICE_UNAUTHORIZED" });
    expect(failure.message).not.toContain("not the one");
    expect(plug.isOn).toBe(true);
  });

  it("that dies in a cycle is reported with the state of the outlet as far as known", async () => {
    const plug = await plugOf(kind);
    const controller = make(...settingsOf(plug)[kind]);
    await controller.open(never);
    plug.dieWhen = false;
    const record = new DispatchRecord();
    const failure = await failureOf(
      record.run(() => run(controller, "power_cycle", { off_ms: 100, wait_for_picture: false })),
    );
    expect(failure).toMatchObject({
      code: "DEVICE_OFFLINE",
      details: { outlet: "unknown", last_known: "off" },
    });
    expect(failure.message).toMatch(/last known state was off: call power_on/);
    expect(record.dispatched).not.toBe("no");
  });
});

it.each(stripMakers)("an outlet of %s is switched over SNMP", async (maker) => {
  const strip = await startStrip(maker, "Of the lab");
  onTestFinished(() => strip.close());
  const settings = { host: "127.0.0.1", port: strip.port, maker, outlet: 3, community: "Of the lab" };
  const controller = make("snmp", settings);
  onTestFinished(() => controller.close());
  await controller.open(never);
  expect(await isOn(controller)).toMatchObject({ holds: true });
  await run(controller, "power_off");
  expect(strip.asked()).toBe(maker === "raritan" ? 0 : 2);
  expect(await isOn(controller)).toMatchObject({ holds: false, actual: "it is off" });
  const missing = make("snmp", { ...settings, outlet: 9 });
  onTestFinished(() => missing.close());
  expect(await failureOf(missing.open(never))).toMatchObject({ code: "DEVICE_ERROR" });
});

describe("programs of the configuration", () => {
  const sh = (script: string) => ["sh", "-c", script];
  it("switch and read, and their failure hides their arguments", async () => {
    const off = sh("echo 'no route to secret-host' >&2; exit 3");
    const state = ["echo", "Chassis Power is on"];
    const controller = make("command", { on: ["true"], off, state });
    await controller.open(never);
    await run(controller, "power_on");
    expect(await isOn(controller)).toMatchObject({ holds: true });
    const failure = await failureOf(run(controller, "power_off"));
    expect(failure).toMatchObject({ code: "DEVICE_ERROR", message: expect.stringContaining("code 3") });
    const mute = make("command", { on: ["true"], off: ["true"] });
    expect(await isOn(mute)).toMatchObject({ holds: false, inconclusive: expect.any(String) });
  });
});

describe("a cycle with a picture", () => {
  const space = { width: 64, height: 36, rotation: 0 as const };
  let timer: NodeJS.Timeout;
  afterEach(() => clearInterval(timer));

  const whole = new Uint8Array(space.width * space.height);
  const pictures = {
    lit: whole.map((_, at) => 40 + (at % space.width) * 3),
    black: whole.map(() => 16),
    /** As a capture card without a signal sends it. */
    blue: whole.map(() => 90),
  };
  type Unlit = "black" | "blue" | "nothing" | "lit";

  /** A TV that shows a picture while the plug is on, and something else, or nothing, while it is off. */
  async function tv(unlit: Unlit) {
    const plug = await plugOf("tasmota");
    const hub = new FrameHub({ perSecond: 20 });
    onTestFinished(() => hub.end());
    let at = 0;
    timer = setInterval(() => {
      const shown = plug.isOn ? "lit" : unlit;
      at += 50;
      if (shown !== "nothing") hub.push({ bytes: pictures[shown], pixels: "gray", space, presentedMs: at });
    }, 50);
    const stream = () => {
      throw new DeviceError("CONTROLLER_UNAVAILABLE", "There is no stream.");
    };
    const device = { ...controllerContext("lab/tv").device, frames: () => hub, stream };
    return { plug, controller: make("tasmota", { url: plug.url, password }, { device }) };
  }

  it.each([
    ["black", 300],
    ["blue", 300],
    ["nothing", 1_800],
  ] as const)("waits until it is back after %s, and says how exact its time is", async (unlit, off_ms) => {
    const { plug, controller } = await tv(unlit);
    const done = await run(controller, "power_cycle", { off_ms, timeout_ms: 5_000 });
    expect(done.data).toMatchObject({ state: "on", picture_ms: expect.any(Number), error_ms: 100 });
    expect(plug.isOn).toBe(true);
  });

  it("says that the outlet does not feed what is seen", async () => {
    const { controller } = await tv("lit");
    const failure = await failureOf(run(controller, "power_cycle", { off_ms: 300, timeout_ms: 500 }));
    expect(failure).toMatchObject({
      code: "COMMAND_TIMEOUT",
      message: expect.stringContaining("never went away"),
    });
  });

  it("that is cancelled leaves the outlet on", async () => {
    const { plug, controller } = await tv("black");
    const cancel = new AbortController();
    const running = failureOf(run(controller, "power_cycle", { off_ms: 60_000 }, cancel.signal));
    await expect.poll(() => plug.isOn).toBe(false);
    cancel.abort(new Error("cancelled by the test"));
    expect((await running).message).toContain("The outlet is on.");
    expect(plug.isOn).toBe(true);
  });
});

controllerContract("the driver tasmota", async () => {
  const plug = await startPlug("tasmota");
  return {
    controller: make("tasmota", { url: plug.url, password }),
    factory: factoryOf("tasmota"),
    endless: { command: "power_cycle", params: { off_ms: 60_000, wait_for_picture: false } },
    dispose: () => plug.close(),
  };
});
