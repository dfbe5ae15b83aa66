import { existsSync } from "node:fs";
import {
  DeviceError,
  DispatchRecord,
  deviceErrors,
  FrameHub,
  powerFactories,
  textFactory,
  videoFactory,
  x11Factory,
} from "@labwright/controllers";
import { simulatedFactory, simulatedInfraredFactory } from "@labwright/controllers/lab";
import { expect, it } from "vitest";
import { builtInFactories } from "#mcp-server/config/controllers.ts";
import { startAndroidLab } from "../fixtures/androidLab.ts";
import { controllerContext } from "../fixtures/controllerContext.ts";
import { PaintedTv } from "../fixtures/paintedTv.ts";
import { writtenFrame } from "../fixtures/writtenPictures.ts";
import { startLabIos } from "../lab/ios/index.ts";
import { startXServer } from "../lab/tv/xServer.ts";
import { never, openAndroid, type TestPhone } from "./android/openAndroid.ts";
import { openAppium } from "./appium/openAppium.ts";
import { type Driver, promiseContract, promises, type Scene } from "./promises.ts";
import { notAsked, readBy, refOf, runBy } from "./scenes.ts";
import { openWebDevice } from "./web/webDevice.ts";

it("every test that a row names is there", () => {
  const named = JSON.stringify(promises).match(/test\/[\w/]+(?:\.test\.ts)?/g) ?? [];
  expect(named.length).toBeGreaterThan(5);
  expect([...new Set(named)].filter((path) => !existsSync(path))).toEqual([]);
});

it("every driver has its row in the table", () => {
  expect(builtInFactories.map(({ name }) => name).sort()).toEqual(Object.keys(promises).sort());
});

const page = `<!doctype html><title>Scene</title>
<button onclick="this.remove()">Goes away</button><button>Alpha</button>
<input aria-label="Stubborn" oninput="this.value = ''">
<button onclick="for (;;);">Hang</button>
<p style="position:relative"><button>Under</button><span style="position:absolute;inset:0;background:#ccc">On top</span></p>
<ul style="height:100px;overflow:auto" tabindex="0">${Array.from({ length: 60 }, (_, at) => `<li>Row ${at + 1} of the list`).join("")}</ul>`;

/** Nothing listens on these; no program is there. */
const brokenOutlets = {
  tasmota: { url: "http://127.0.0.1:9" },
  shelly: { url: "http://127.0.0.1:9" },
  home_assistant_power: { url: "http://127.0.0.1:9", entity: "switch.tv", token: "t" },
  tapo: { host: "127.0.0.1:9", user: "u", password: "p" },
  snmp: { host: "127.0.0.1", port: 9, maker: "apc", outlet: 1 },
  command: { on: ["no-such-program"], off: ["no-such-program"] },
} as const;
for (const [driver, settings] of Object.entries(brokenOutlets))
  promiseContract(driver as keyof typeof brokenOutlets, `the outlet ${driver}`, async () => {
    const factory = powerFactories.find(({ name }) => name === driver);
    const [power] = factory?.create(factory.settings.parse(settings), controllerContext("lab/tv")) ?? [];
    if (!power) throw new Error("The factory made no controller.");
    return {
      run: (name, params, signal) => runBy(power, name, params, signal),
      ...{
        read: notAsked,
        cover: notAsked,
        leadToList: notAsked,
        staleRef: notAsked,
        failsAfterInput: notAsked,
      },
      ...{ ambiguous: "", failing: { check: "", params: {}, nearest: "" } },
      breaks: async () => ({ command: "power_off", params: {} }),
      broken: driver === "command" ? "DEVICE_ERROR" : "DEVICE_OFFLINE",
      // Those that connect first know that nothing was sent.
      brokenInput: driver === "snmp" || driver === "command" ? "unknown" : "no",
      close: () => power.close(),
    };
  });

/** Nothing listens there: each fails to connect, for the lab's fault, before a key leaves. */
const unreachable: Partial<Record<Driver, object>> = {
  infrared: { socket: "/nonexistent/lircd", remote: "tv" },
  global_cache: { address: "127.0.0.1", port: 1, keys: { DOWN: "38000,1,1,9,9" } },
  roku: { address: "127.0.0.1", port: 1 },
  webos: { address: "127.0.0.1", port: 1 },
  samsung: { address: "127.0.0.1", port: 1 },
  cec: { adapter: "/nonexistent/ttyACM0" },
  kodi: { address: "127.0.0.1", port: 1 },
  one_kvm: { url: "http://127.0.0.1:1", password: "p" },
  home_assistant: { url: "http://127.0.0.1:1", token: "none", entity: "remote.tv", keys: { DOWN: "down" } },
};
for (const [driver, settings] of Object.entries(unreachable))
  it(`${driver} that reaches nothing blames the lab, and no key left`, async () => {
    const factory = builtInFactories.find(({ name }) => name === driver);
    const [remote] = factory?.create(factory.settings.parse(settings), controllerContext("lab/tv")) ?? [];
    if (!remote) throw new Error("The factory made no controller.");
    const inputs = new DispatchRecord();
    const failure: unknown = await inputs.run(() => remote.open(never)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DeviceError);
    expect(failure instanceof DeviceError && deviceErrors[failure.code].fault).toBe("lab");
    expect(inputs.dispatched).toBe("no");
    expect(remote.isAlive()).toBe(false);
    await remote.close();
  });

promiseContract("web", "a browser", async () => {
  const { run, web, close } = await openWebDevice();
  const html = JSON.stringify(page);
  await run("navigate_to_url", { url: "about:blank" });
  await run("execute_javascript", { script: `document.write(${html}); document.close()` });
  return {
    run: (name, params, signal) => runBy(web, name, params, signal),
    read: (name, params) => readBy(web, name, params),
    close,
    ambiguous: "role=button",
    cover: async () => ({ selector: "Under" }),
    leadToList: async () => "Row 60 of the list",
    async staleRef() {
      const ref = await refOf(web, "Goes away");
      await run("click_element", { ref });
      return ref;
    },
    failing: { check: "element_visible", params: { selector: "Alpa" }, nearest: "Alpha" },
    failsAfterInput: async () => ({ command: "input_text", params: { selector: "Stubborn", text: "abc" } }),
    breaks: async () => ({ command: "click_element", params: { selector: "Hang", timeout_ms: 1_000 } }),
    broken: "PAGE_UNRESPONSIVE",
    brokenInput: "unknown",
  };
});

const samples = { app: { package: "dev.labwright.samples" } };

/** What is the same on each phone that has the samples and the shop. */
function onSamples(phone: TestPhone) {
  const { run, read } = phone;
  const open = async (name: string) => {
    await run("open_app", samples);
    await run("click_element", { selector: name });
  };
  return {
    run: (name: string, params?: object, signal?: AbortSignal) => runBy(phone.remote, name, params, signal),
    read,
    ambiguous: "role=listitem",
    async cover() {
      await run("scroll_to_element", { selector: "Delete notes" });
      await run("click_element", { selector: "Delete notes" });
      return { selector: "Form" };
    },
    async leadToList() {
      await run("open_app", { app: { package: "com.android.settings" } });
      return "About phone";
    },
    async staleRef() {
      await run("open_app", samples);
      const ref = await phone.refOf("Form");
      await open("Text");
      return ref;
    },
    failing: { check: "element_visible", params: { selector: "Fomr" }, nearest: "Form" },
    failsAfterInput: async () => ({ command: "scroll_to_element", params: { selector: "Nowhere" } }),
  } satisfies Partial<Scene>;
}

promiseContract("android", "an Android phone", async () => {
  const lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
  const { settings, device } = lab.at(0);
  const phone = await openAndroid(settings);
  await phone.run("open_app", samples);
  return {
    ...onSamples(phone),
    async breaks() {
      device.faults.extraDelayMs.input = 60_000;
      void expect
        .poll(() => device.traffic.services.at(-1))
        .toContain("input ")
        .then(() => device.adbd.drop());
      return { command: "tap", params: { x: 10, y: 10 } };
    },
    broken: "TRANSPORT_LOST",
    brokenInput: "unknown",
    async close() {
      await phone.close();
      await lab.close();
    },
  };
});

promiseContract("appium", "an iPhone behind Appium", async () => {
  const lab = await startLabIos();
  const phone = await openAppium({ url: lab.url, capabilities: { platformName: "iOS" } });
  await phone.run("open_app", samples);
  return {
    ...onSamples(phone),
    async breaks() {
      await phone.run("open_app", samples);
      const ref = await phone.refOf("Form");
      lab.faults.dropAfter = 0;
      return { command: "click_element", params: { ref } };
    },
    broken: "TRANSPORT_LOST",
    brokenInput: "unknown",
    async close() {
      await phone.close();
      await lab.close();
    },
  };
});

/** A box that goes away instead of its command with this number. */
async function openBox(die_after?: number) {
  const [remote] = simulatedFactory.create(
    simulatedFactory.settings.parse({ die_after }),
    controllerContext("lab/box"),
  );
  if (!remote) throw new Error("The factory made no controller.");
  await remote.open(never);
  return remote;
}

promiseContract("simulated", "a simulated box", async () => {
  let remote = await openBox();
  const run: Scene["run"] = (name, params, signal) => runBy(remote, name, params, signal);
  return {
    run,
    read: (name, params) => readBy(remote, name, params),
    ambiguous: "role=button",
    async cover() {
      await run("click_element", { selector: "Live TV" });
      await run("click_element", { selector: "Guide" });
      await run("click_element", { selector: "Record all" });
      return { selector: "Programme 1" };
    },
    async leadToList() {
      await run("click_element", { selector: "Live TV" });
      await run("click_element", { selector: "Guide" });
      return "Programme 20";
    },
    async staleRef() {
      const ref = await refOf(remote, "Movies");
      await run("click_element", { selector: "Settings" });
      return ref;
    },
    failing: { check: "element_visible", params: { selector: "Movie" }, nearest: "Movies" },
    async failsAfterInput() {
      await run("press_key", { key: "HOME" });
      await run("click_element", { selector: "Live TV" });
      await run("click_element", { selector: "Guide" });
      return { command: "scroll_to_element", params: { selector: "Nowhere" } };
    },
    async breaks() {
      await remote.close();
      remote = await openBox(1);
      await run("press_key", { key: "DOWN" });
      return { command: "press_key", params: { key: "DOWN" } };
    },
    broken: "DEVICE_LOST",
    // It goes away before the key.
    brokenInput: "no",
    close: () => remote.close(),
  };
});

promiseContract("simulated_infrared", "an infrared remote", async () => {
  const settings = simulatedInfraredFactory.settings.parse({ die_after: 1 });
  const [remote] = simulatedInfraredFactory.create(settings, controllerContext("lab/box"));
  if (!remote) throw new Error("The factory made no controller.");
  await remote.open(never);
  return {
    run: (name, params, signal) => runBy(remote, name, params, signal),
    ...{
      read: notAsked,
      cover: notAsked,
      leadToList: notAsked,
      staleRef: notAsked,
      failsAfterInput: notAsked,
    },
    ...{ ambiguous: "", failing: { check: "", params: {}, nearest: "" } },
    async breaks() {
      await runBy(remote, "press_key", { key: "DOWN" });
      return { command: "press_key", params: { key: "DOWN" } };
    },
    broken: "DEVICE_LOST",
    brokenInput: "no",
    close: () => remote.close(),
  };
});

promiseContract("video", "a measurement", async () => {
  const context = controllerContext("lab/box");
  const hub = new FrameHub({ perSecond: 25 });
  const [video] = videoFactory.create(videoFactory.settings.parse({}), {
    ...context,
    device: { ...context.device, frames: () => hub },
  });
  if (!video) throw new Error("The factory made no controller.");
  await video.open(never);
  return {
    run: (name, params, signal) => runBy(video, name, params, signal),
    ...{
      read: notAsked,
      cover: notAsked,
      leadToList: notAsked,
      staleRef: notAsked,
      failsAfterInput: notAsked,
    },
    ...{ ambiguous: "", failing: { check: "", params: {}, nearest: "" } },
    async breaks() {
      hub.end();
      return { command: "measure_zap", params: {} };
    },
    broken: "DEVICE_ERROR",
    brokenInput: "no",
    close: () => video.close(),
  };
});

promiseContract("x11", "the keyboard of an X11 display", async () => {
  const { display, program } = await startXServer();
  const [remote] = x11Factory.create(x11Factory.settings.parse({ display }), controllerContext("lab/box"));
  if (!remote) throw new Error("The factory made no controller.");
  await remote.open(never);
  return {
    run: (name, params, signal) => runBy(remote, name, params, signal),
    ...{
      read: notAsked,
      cover: notAsked,
      leadToList: notAsked,
      staleRef: notAsked,
      failsAfterInput: notAsked,
    },
    ...{ ambiguous: "", failing: { check: "", params: {}, nearest: "" } },
    async breaks() {
      await program.end(0);
      return { command: "press_key", params: { key: "DOWN" } };
    },
    broken: "DEVICE_OFFLINE",
    brokenInput: "no",
    async close() {
      await remote.close();
      await program.end(0);
    },
  };
});

promiseContract("picture_ui", "a TV that shows a picture and takes keys", async () => {
  const tv = new PaintedTv({
    "Main menu": ["Alpha", "Twin", "Twin", "Settings", "Radio", "Games", "Last row"],
    Settings: ["Colours", "Sound"],
  });
  const screen = await tv.open();
  return {
    async run(name, params, signal) {
      if (name === "press_key") tv.press(String(params?.key));
      else return runBy(screen, name, params, signal);
    },
    read: (name, params) => readBy(screen, name, params),
    close: () => screen.close(),
    ambiguous: "Twin",
    cover: notAsked,
    leadToList: async () => "Last row",
    async staleRef() {
      const ref = await refOf(screen, "Alpha");
      await runBy(screen, "click_element", { selector: "Settings" });
      return ref;
    },
    failing: { check: "element_visible", params: { selector: "Alpa" }, nearest: "Alpha" },
    failsAfterInput: notAsked,
    breaks: notAsked,
    broken: "DEVICE_ERROR",
    brokenInput: "no",
  };
});

promiseContract("text", "a reader of pictures", async () => {
  const [text] = textFactory.create(textFactory.settings.parse({}), controllerContext("tv"));
  if (!text) throw new Error("no controller");
  const texts = [{ text: "Settings", x: 40, y: 100, size: 30 }];
  const frame = await writtenFrame({ width: 640, height: 360, background: "#123", texts });
  const none = () => Promise.reject(new Error("It sends nothing"));
  return {
    run: (name, params, signal) => runBy(text, name, params, signal),
    async read(name, params) {
      const check = text.checks.find((one) => one.name === name);
      if (!check) throw new Error(`no check ${name}`);
      return check.read(check.input.parse(params), never, { frame });
    },
    close: () => text.close(),
    ambiguous: "",
    cover: none,
    leadToList: none,
    staleRef: none,
    failing: { check: "text_visible", params: { text: "Setings" }, nearest: "Settings" },
    failsAfterInput: none,
    breaks: none,
    broken: "DEVICE_ERROR",
    brokenInput: "no",
  };
});
