import { type DriverController, startProgram, x11Factory } from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { controllerContract } from "../../controllers/contract.ts";
import { remoteContract } from "../../controllers/remotes/remoteContract.ts";
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

remoteContract("x11", async () => {
  const seen = watchKeys();
  await seen.begin(open());
  return {
    factory: x11Factory,
    settings: { display: server.display, keys: { ODD: "NoSuchSymbol" } },
    arrived: () => seen.keys(),
    sends: { OK: ["KeyPress Return", "KeyRelease Return"], UP: ["KeyPress Up", "KeyRelease Up"] },
    holds: ["KeyPress Up", "KeyRelease Up"],
    refuses: { key: "ODD", code: "DEVICE_ERROR" },
    silence: {
      set: (isSilent) => process.kill(server.program.child.pid ?? 0, isSilent ? "SIGSTOP" : "SIGCONT"),
    },
    close: () => seen.end(),
  };
});

/** The keys that an X11 client sees. */
function watchKeys() {
  let seen = "";
  const env = { ...process.env, DISPLAY: server.display };
  const watch = startProgram("xev", ["-root", "-event", "keyboard"], { env });
  watch.child.stdout?.on("data", (part: Buffer) => {
    seen += part.toString();
  });
  return {
    keys: () =>
      [...seen.matchAll(/^(Key\w+) event[\s\S]*?keysym 0x\w+, (\w+)/gm)].map(([, ...key]) => key.join(" ")),
    /** It listens once it sees a key. */
    async begin(remote: DriverController) {
      await remote.open(never);
      while (!seen.includes("End")) {
        await run(remote, "press_key", { key: "END" });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await remote.close();
    },
    end: () => watch.end(0),
  };
}

describe("the keyboard of an X11 display", () => {
  let remote: DriverController;
  let seen: ReturnType<typeof watchKeys>;
  beforeAll(async () => {
    seen = watchKeys();
    await seen.begin(open());
    remote = open({ keys: { RED: "ctrl+F5" } });
    await remote.open(never);
  });
  afterAll(async () => {
    await remote.close();
    await seen.end();
  });

  const keys = () => seen.keys();
  const untilSeen = (...wanted: string[]) => expect.poll(() => keys().slice(-wanted.length)).toEqual(wanted);

  it("presses keys of its settings, which may be several together", async () => {
    await run(remote, "press_sequence", { keys: ["CHANNEL_UP", "RED"] });
    await untilSeen(
      ...["KeyPress Prior", "KeyRelease Prior"],
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
