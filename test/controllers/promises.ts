import { type DeviceErrorCode, DispatchRecord, deviceErrors } from "@labwright/controllers";
import { describe, expect, it } from "vitest";

/**
 * What every driver promises of its commands. `kept`: the contract below proves it. `handed on`: another program decides, and
 * the driver passes on what it says. `waived`: this driver has no such case.
 */
type Cell = "kept" | { "handed on": string } | { waived: string };

const promiseNames = [
  "ambiguous",
  "covered",
  "off screen",
  "stale ref",
  "evidence",
  "deadline",
  "cancelled",
  "error class",
  "dispatched",
] as const;
export type PromiseName = (typeof promiseNames)[number];

const keptBy = {
  ambiguous: "kept",
  covered: "kept",
  "off screen": "kept",
  "stale ref": "kept",
  evidence: "kept",
  deadline: "kept",
  cancelled: "kept",
  "error class": "kept",
  dispatched: "kept",
} as const satisfies Record<PromiseName, Cell>;

/** What is promised of elements, of a driver that names none. */
const withoutElements = (why: string) => ({
  ...{ ambiguous: { waived: why }, covered: { waived: why } },
  ...{ "off screen": { waived: why }, "stale ref": { waived: why } },
});
const seesPictures = withoutElements("It sees pictures and names no element.");
const hearsSound = withoutElements("It hears sound and names no element.");
const pressesKeys = withoutElements("It presses keys and names no element.");
const switchesOutlets = withoutElements("It switches an outlet and names no element.");

/** Remotes that send keys and hear whether they arrived: test/controllers/remotes proves it with stand-ins. */
const remoteOverNetwork = {
  ...pressesKeys,
  evidence: { waived: "It has no checks." },
  deadline: { waived: "A key is sent at once." },
  cancelled: { waived: "Only hold_key lasts: test/controllers/remotes cancels it." },
  "error class": "kept",
  dispatched: { "handed on": "A remote says that it took a key, and not whether an app did." },
} as const satisfies Record<PromiseName, Cell>;

/** Drivers of outlets: their deadline, cancellation and evidence are proved in test/devices/tv/power.test.ts. */
const ofPower = {
  ...switchesOutlets,
  evidence: { waived: "An outlet is on or off and has no nearest name: test/devices/tv/power.test.ts." },
  deadline: { waived: "The promise is about an element that nobody shows." },
  cancelled: { waived: "A cycle that is cancelled switches on again: test/devices/tv/power.test.ts." },
  "error class": "kept",
  dispatched: { waived: "No command names an element: test/devices/tv/power.test.ts proves it in a cycle." },
} as const satisfies Record<PromiseName, Cell>;

/** Each driver and each promise: a driver that is added here needs a cell for each, or it does not compile. */
export const promises = {
  web: keptBy,
  android: keptBy,
  appium: keptBy,
  simulated: keptBy,
  simulated_infrared: {
    ...pressesKeys,
    evidence: { waived: "It has no checks." },
    deadline: { waived: "A key is sent at once." },
    cancelled: { waived: "A key is sent at once." },
    "error class": "kept",
    dispatched: {
      "handed on": "No remote hears whether the box took its light: a key that left counts as sent.",
    },
  },
  video: {
    ...seesPictures,
    evidence: { waived: "Motion has no nearest name: test/controllers/measuring/videoChecks.test.ts." },
    deadline: { waived: "It waits for no element: test/devices/measuring.test.ts." },
    cancelled: { waived: "It waits for no element: test/controllers/measuring/contract.test.ts." },
    "error class": "kept",
    dispatched: { "handed on": "The remote whose key it presses says whether the key left." },
  },
  av: {
    ...seesPictures,
    evidence: { waived: "It has no checks." },
    deadline: { waived: "It has no commands." },
    cancelled: { waived: "It has no commands." },
    "error class": {
      waived: "It has no commands; without a signal, its ports throw NO_SIGNAL: test/devices/av.test.ts.",
    },
    dispatched: { waived: "It has no commands." },
  },
  text: {
    ...seesPictures,
    evidence: "kept",
    deadline: { waived: "Its command only reads." },
    cancelled: { waived: "It waits for nothing on the device." },
    "error class": { waived: "It sends nothing to the device." },
    dispatched: { waived: "It sends nothing to the device." },
  },
  image: {
    ...seesPictures,
    evidence: {
      waived: "A picture has a score and no nearest name: test/controllers/vision/checks.test.ts.",
    },
    deadline: { waived: "It has no commands." },
    cancelled: { waived: "It has no commands." },
    "error class": { waived: "It has no commands." },
    dispatched: { waived: "It has no commands." },
  },
  tasmota: ofPower,
  shelly: ofPower,
  home_assistant_power: ofPower,
  tapo: ofPower,
  one_kvm: {
    ...pressesKeys,
    evidence: { waived: "An outlet is on or off and has no nearest name: test/devices/tv/power.test.ts." },
    deadline: { waived: "A key is sent at once." },
    cancelled: { waived: "Only hold_key and a cycle last: test/devices/tv/power.test.ts." },
    "error class": "kept",
    dispatched: { "handed on": "It says that it took a key, and not whether the device did." },
  },
  snmp: ofPower,
  command: ofPower,
  audio: {
    ...hearsSound,
    evidence: { waived: "A sound has no nearest name: test/devices/tv/sound.test.ts." },
    deadline: { waived: "It has no commands." },
    cancelled: { waived: "It has no commands." },
    "error class": { waived: "It has no commands." },
    dispatched: { waived: "It has no commands." },
  },
  simulated_capture: {
    ...seesPictures,
    evidence: { waived: "It has no checks." },
    deadline: { waived: "It has no commands." },
    cancelled: { waived: "It has no commands." },
    "error class": { waived: "It has no commands." },
    dispatched: { waived: "It has no commands." },
  },
  picture_ui: {
    ...keptBy,
    covered: { waived: "A picture shows only what is in front." },
    "error class": { waived: "Its keys are those of the device's remote, which has a row of its own." },
    dispatched: { "handed on": "The device's remote says whether its key was sent." },
  },
  x11: {
    ...pressesKeys,
    evidence: { waived: "It has no checks." },
    deadline: { waived: "A key is sent at once." },
    cancelled: { waived: "Only hold_key lasts: test/devices/tv/x11.test.ts cancels it." },
    "error class": "kept",
    dispatched: { "handed on": "An X server says that it took a key, and not whether an app did." },
  },
  infrared: remoteOverNetwork,
  global_cache: remoteOverNetwork,
  roku: remoteOverNetwork,
  webos: remoteOverNetwork,
  samsung: remoteOverNetwork,
  cec: remoteOverNetwork,
  kodi: remoteOverNetwork,
  home_assistant: remoteOverNetwork,
  adb_keys: remoteOverNetwork,
} as const satisfies Record<string, Record<PromiseName, Cell>>;
export type Driver = keyof typeof promises;

type Params = Readonly<Record<string, unknown>>;
type Call = { command: string; params: Params };

/** One device with a screen on which each promise can be put to the test. */
export type Scene = {
  run(command: string, params?: Params, signal?: AbortSignal): Promise<unknown>;
  read(check: string, params: Params): Promise<{ holds: boolean }>;
  /** A selector of several elements. */
  ambiguous: string;
  /** Puts something in front of an element, and returns its ref or selector. */
  cover(): Promise<Params>;
  /** Shows a list, and returns a selector of an element of it that is not on the screen. */
  leadToList(): Promise<string>;
  /** The ref of an element that was there and is gone. */
  staleRef(): Promise<string>;
  /** A check that fails, and a name that it should mention. */
  failing: { check: string; params: Params; nearest: string };
  /** A command whose input is sent, and which fails all the same. */
  failsAfterInput(): Promise<Call>;
  /** A command during whose input the device goes away, or stops answering. */
  breaks(): Promise<Call>;
  /** The code with which the command that breaks fails. */
  broken: DeviceErrorCode;
  /** Whether the input left before it broke. */
  brokenInput: "unknown" | "no";
  close(): Promise<void>;
};

/** The failure of a command, with whether its input was sent. */
async function failed(scene: Scene, { command, params }: Call, signal?: AbortSignal) {
  const inputs = new DispatchRecord();
  const failure = await inputs
    .run(() => scene.run(command, params, signal))
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  expect(failure, `${command} fails`).toBeDefined();
  return { failure, dispatched: inputs.dispatched };
}

const click = (params: Params): Call => ({ command: "click_element", params });

const contract: Readonly<Record<PromiseName, (scene: Scene) => Promise<void>>> = {
  async ambiguous(scene) {
    const { failure, dispatched } = await failed(scene, click({ selector: scene.ambiguous }));
    expect(failure).toMatchObject({ code: "ELEMENT_AMBIGUOUS" });
    expect(dispatched).toBe("no");
  },
  async covered(scene) {
    const target = await scene.cover();
    const { failure, dispatched } = await failed(scene, click({ ...target, timeout_ms: 500 }));
    // Android leaves what is behind a dialog out of its tree.
    expect(failure).toMatchObject({ code: expect.stringMatching(/^ELEMENT_NOT_(ACTIONABLE|FOUND)$/) });
    expect(dispatched).toBe("no");
  },
  async "off screen"(scene) {
    const selector = await scene.leadToList();
    await scene.run("scroll_to_element", { selector });
    expect(await scene.read("element_visible", { selector })).toMatchObject({ holds: true });
  },
  async "stale ref"(scene) {
    const { failure, dispatched } = await failed(scene, click({ ref: await scene.staleRef() }));
    expect(failure).toMatchObject({ code: "STALE_REF" });
    expect(dispatched).toBe("no");
  },
  async evidence(scene) {
    const { check, params, nearest } = scene.failing;
    const reading = await scene.read(check, params);
    expect(reading).toMatchObject({ holds: false, expected: expect.any(String), actual: expect.any(String) });
    expect(JSON.stringify(reading)).toContain(nearest);
  },
  async deadline(scene) {
    const { failure } = await failed(scene, click({ selector: "Nobody shows this", timeout_ms: 300 }));
    expect(failure).toMatchObject({ code: "ELEMENT_NOT_FOUND" });
  },
  async cancelled(scene) {
    const cancel = new AbortController();
    const waiting = failed(
      scene,
      { command: "wait_for", params: { text: "Nobody shows this", timeout_ms: 60_000 } },
      cancel.signal,
    );
    setTimeout(() => cancel.abort(new Error("cancelled by the test")), 100);
    await waiting;
    await scene.run("press_key", { key: "HOME" });
  },
  async "error class"(scene) {
    const { failure } = await failed(scene, await scene.breaks());
    expect(failure).toMatchObject({ code: scene.broken });
    expect(deviceErrors[scene.broken].fault).toBe("lab");
  },
  async dispatched(scene) {
    const missing = await failed(scene, click({ selector: "Nobody shows this", timeout_ms: 300 }));
    expect(missing.dispatched).toBe("no");
    expect((await failed(scene, await scene.failsAfterInput())).dispatched).toBe("yes");
    expect((await failed(scene, await scene.breaks())).dispatched).toBe(scene.brokenInput);
  },
};

/** Proves every promise that the table says a driver keeps, each on a scene of its own. */
export function promiseContract(driver: Driver, name: string, open: () => Promise<Scene>): void {
  describe(`${name} keeps its promise of`, () => {
    for (const promise of promiseNames) {
      if (promises[driver][promise] !== "kept") continue;
      it(promise, async () => {
        const scene = await open();
        try {
          await contract[promise](scene);
        } finally {
          await scene.close();
        }
      });
    }
  });
}
