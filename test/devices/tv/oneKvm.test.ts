import { DispatchRecord, oneKvmFactory } from "@labwright/controllers";
import { afterEach, describe, expect, it } from "vitest";
import { controllerContract } from "../../controllers/contract.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { startOneKvm } from "../../lab/tv/power/oneKvm.ts";
import { plugLogin } from "../../lab/tv/power/plug.ts";

const never = new AbortController().signal;
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The controllers of a box by their kind. */
function controllersOf(url: string, settings: object = {}) {
  const whole = oneKvmFactory.settings.parse({ url, password: plugLogin.password, ...settings });
  const made = oneKvmFactory.create(whole, controllerContext("lab/tv"));
  const of = (kind: string) => {
    const found = made.find((one) => one.kind === kind);
    if (!found) throw new Error(`It made no ${kind}.`);
    ends.push(() => found.close());
    return found;
  };
  return { remote: of("remote"), av: of("av"), power: of("power") };
}

async function box(options: Parameters<typeof startOneKvm>[0] = {}, settings: object = {}) {
  const lab = await startOneKvm(options);
  ends.push(lab.close);
  return { ...lab, ...controllersOf(lab.url, settings) };
}

type Made = ReturnType<typeof controllersOf>["remote"];
const run = ({ commands }: Made, name: string, params: object = {}) => {
  const command = commands.find((one) => one.name === name);
  if (!command) throw new Error(`There is no command ${name}.`);
  return command.run(command.input.parse(params), never);
};
const powerIs = ({ checks: [check] }: Made) => check?.read({ state: "on" }, never);

describe("One-KVM", () => {
  it("presses and holds keys of a USB keyboard, and media keys", async () => {
    const { kvm, remote } = await box();
    await remote.open(never);
    expect(remote.facts?.()).toEqual({ make: "One-KVM" });
    expect(await run(remote, "press_key", { key: "OK" })).toMatchObject({ sentAt: expect.any(Number) });
    await run(remote, "press_key", { key: "VOLUME_UP" });
    await run(remote, "hold_key", { key: "DOWN", ms: 50 });
    expect(kvm.keys).toEqual(["01002800", "01012800", "03e900", "01005100", "01015100"]);
    await expect(run(remote, "hold_key", { key: "MUTE" })).rejects.toMatchObject({ code: "INVALID_PARAMS" });
    await expect(run(remote, "press_key", { key: "RED" })).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  });

  it("says when its keyboard is unplugged, before and while it is used, and when it refuses the password", async () => {
    const { kvm, url, remote } = await box();
    await remote.open(never);
    kvm.hasKeyboard = false;
    const record = new DispatchRecord();
    const unplugged = { code: "DEVICE_OFFLINE", message: expect.stringContaining("USB cable") };
    await expect(record.run(() => run(remote, "press_key", { key: "OK" }))).rejects.toMatchObject(unplugged);
    expect(record.dispatched).toBe("no");
    await expect(controllersOf(url).remote.open(never)).rejects.toMatchObject(unplugged);
    const stranger = controllersOf(url, { password: "not the one" });
    const refused = await stranger.power.open(never).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "DEVICE_UNAUTHORIZED" });
    expect(String(refused)).not.toContain("not the one");
  });

  it("has a power button that is pressed only where its state or a long press makes it sure, in one session", async () => {
    const { kvm, power, logInElsewhere } = await box();
    await power.open(never);
    await run(power, "power_on");
    expect(kvm.presses).toEqual([]);
    await run(power, "power_cycle", { off_ms: 100, wait_for_picture: false });
    expect(kvm.presses).toEqual(["long", "short"]);
    logInElsewhere();
    expect(await powerIs(power)).toMatchObject({ holds: true });
    kvm.hasLed = false;
    expect(await powerIs(power)).toMatchObject({ holds: false, inconclusive: expect.stringMatching(/LED/) });
    const unknown = { code: "COMMAND_UNSUITABLE", message: expect.stringContaining("the opposite") };
    await expect(run(power, "power_on")).rejects.toMatchObject(unknown);
    await run(power, "power_off");
    await run(power, "power_on");
    expect(kvm).toMatchObject({ isOn: true, presses: ["long", "short", "long", "short"] });
    await expect(run(power, "power_on")).rejects.toMatchObject(unknown);
  });

  it("asks the system to shut down where it is not to be forced", async () => {
    const { kvm, power } = await box({}, { force_off: false });
    await run(power, "power_off");
    expect(kvm).toMatchObject({ isOn: false, presses: ["short"] });
  });
});

controllerContract("the keys of the driver one_kvm", async () => {
  const lab = await startOneKvm();
  const { remote } = controllersOf(lab.url);
  return {
    controller: remote,
    factory: oneKvmFactory,
    endless: { command: "hold_key", params: { key: "UP", ms: 30_000 } },
    dispose: lab.close,
  };
});
