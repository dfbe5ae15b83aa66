import { type DriverController, type RunningProgram, startProgram, x11Factory } from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { controllerContract } from "../../controllers/contract.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { startXServer, type XServer } from "../../lab/tv/xServer.ts";

let server: XServer;
beforeAll(async () => {
  server = await startXServer();
});
afterAll(() => server.program.end(0));

const never = new AbortController().signal;
const diagnosing = { env: process.env, addons: controllerContext("lab/box").addons, signal: never };

function open(settings: object = {}): DriverController {
  const given = x11Factory.settings.parse({ display: server.display, ...settings });
  const [remote] = x11Factory.create(given, controllerContext("lab/box"));
  if (!remote) throw new Error("The factory made no controller.");
  return remote;
}

const run = ({ commands }: DriverController, name: string, params: object, signal = never) => {
  const command = commands.find((one) => one.name === name);
  if (!command) throw new Error(`There is no command ${name}.`);
  return command.run(command.input.parse(params), signal);
};

controllerContract("the keyboard of an X11 display", async () => ({
  controller: open(),
  factory: x11Factory,
  endless: { command: "hold_key", params: { key: "OK", ms: 30_000 } },
  dispose: async () => undefined,
}));

describe("the keyboard of an X11 display", () => {
  let remote: DriverController;
  let seen = "";
  let watch: RunningProgram;
  beforeAll(async () => {
    remote = open({ keys: { RED: "ctrl+F5", BROKEN: "NoSuchSymbol" } });
    await remote.open(never);
    const env = { ...process.env, DISPLAY: server.display };
    watch = startProgram("xev", ["-root", "-event", "keyboard"], { env });
    watch.child.stdout?.on("data", (part: Buffer) => {
      seen += part.toString();
    });
    // It listens once it sees a key.
    while (!seen.includes("End")) {
      await run(remote, "press_key", { key: "END" });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  afterAll(async () => {
    await remote.close();
    await watch.end(0);
  });

  const keys = () =>
    [...seen.matchAll(/^(Key\w+) event[\s\S]*?keysym 0x\w+, (\w+)/gm)].map(([, ...key]) => key.join(" "));
  const untilSeen = (...wanted: string[]) => expect.poll(() => keys().slice(-wanted.length)).toEqual(wanted);

  it("presses keys, those of its settings too, and says when the last one left", async () => {
    const before = performance.now();
    const { sentAt = 0 } = await run(remote, "press_sequence", { keys: ["OK", "CHANNEL_UP", "RED"] });
    expect(sentAt).toBeGreaterThan(before);
    expect(sentAt).toBeLessThanOrEqual(performance.now());
    await untilSeen(
      ...["KeyPress Return", "KeyRelease Return", "KeyPress Prior", "KeyRelease Prior"],
      ...["KeyPress Control_L", "KeyPress F5", "KeyRelease Control_L", "KeyRelease F5"],
    );
  });

  it("lets a held key go when it is cancelled", async () => {
    const cancel = new AbortController();
    const holding = run(remote, "hold_key", { key: "UP", ms: 30_000 }, cancel.signal);
    await expect.poll(() => keys().at(-1)).toContain("Up");
    cancel.abort(new Error("cancelled by the test"));
    await expect(holding).rejects.toThrow("cancelled by the test");
    await expect.poll(() => keys().at(-1)).toBe("KeyRelease Up");
  });

  it("types letters of any language", async () => {
    await run(remote, "type_text", { text: "Né €" });
    const pressed = () =>
      keys()
        .filter((key) => key.startsWith("KeyPress"))
        .slice(-3);
    await expect.poll(pressed).toEqual(["KeyPress eacute", "KeyPress space", "KeyPress U20AC"]);
  });

  it("names the nearest keys for one that it lacks, and what to correct for a symbol that X11 lacks", async () => {
    await expect(run(remote, "press_key", { key: "CHANEL_UP" })).rejects.toMatchObject({
      code: "INVALID_PARAMS",
      message: expect.stringContaining("CHANNEL_UP"),
    });
    await expect(run(remote, "press_key", { key: "BROKEN" })).rejects.toThrow("controllers.x11.keys");
  });

  it("presses until a check of the device holds", async () => {
    let presses = 0;
    const context = controllerContext("lab/box");
    const read = async () => ({ holds: ++presses > 3, expected: "BBC", actual: "ITV" });
    const [other] = x11Factory.create(x11Factory.settings.parse({ display: server.display }), {
      ...context,
      device: { ...context.device, read },
    });
    if (!other) throw new Error("The factory made no controller.");
    await other.open(never);
    const until = { key: "CHANNEL_UP", check: "text_visible", params: { text: "BBC" }, wait_ms: 0 };
    await expect(run(other, "press_until", { ...until, at_most: 1 })).rejects.toMatchObject({
      code: "ACTION_REJECTED",
      message: expect.stringMatching(/after 1 presses.*expected BBC, found ITV/),
    });
    expect(await run(other, "press_until", until)).toMatchObject({ data: { presses: 1 } });
    await other.close();
  });
});

it("says what a display lacks, and that one that has ended is offline", async () => {
  const { display, program } = await startXServer();
  const settings = x11Factory.settings.parse({ display });
  expect(await x11Factory.diagnose?.(settings, diagnosing)).toMatchObject([
    { status: "ok", detail: "1280 x 720 pixels" },
  ]);
  expect(await x11Factory.diagnose?.(settings, { ...diagnosing, env: { PATH: "/nowhere" } })).toMatchObject([
    { what: "xdotool", status: "missing", fix: expect.stringContaining("apt-get") },
  ]);
  const remote = open({ display });
  await remote.open(never);
  await program.end(0);
  await expect(run(remote, "press_key", { key: "UP" })).rejects.toMatchObject({ code: "DEVICE_OFFLINE" });
  expect(remote.status?.()).toMatchObject({ state: "offline", fix: expect.stringContaining("display") });
  await expect(remote.open(never)).rejects.toMatchObject({ code: "DEVICE_OFFLINE" });
  expect(await x11Factory.diagnose?.(settings, diagnosing)).toMatchObject([{ status: "missing" }]);
  await remote.close();
});
