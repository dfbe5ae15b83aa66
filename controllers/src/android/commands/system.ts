import { z } from "zod";
import { type Command, type CommandResult, defineCommand, type Withheld } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { noTurning, type Orientation, rotateOffer, turned } from "../../phones/system.ts";
import { sent } from "../../screens/input.ts";
import { poll } from "../../waiting/deadlines.ts";
import type { AndroidFacts } from "../facts.ts";
import type { AndroidSession } from "../session.ts";
import { readDisplay } from "../ui/screenFacts.ts";
import { change, confirm, type Line, lookEveryMs, takenMs } from "./changing.ts";

/** `cmd connectivity airplane-mode` came with Android 11 (appium-adb, setAirplaneMode). */
const firstWithAirplane = 30;
const airplane = "set_airplane_mode";
const noAirplane = "adb can switch airplane mode from Android 11 on. Use set_network, or switch it by hand.";

/** Settings of the whole device. Each is set back when another client takes the device. */
export function systemCommands(session: AndroidSession): Command[] {
  return [
    rotate(session),
    setDarkMode(session),
    setFontScale(session),
    setAirplaneMode(session),
    setNetwork(session),
  ];
}

const getting = (namespace: string, name: string): Line => ["settings", "get", namespace, name];
const putting = (namespace: string, name: string, value = "null"): Line =>
  value === "null" || value === ""
    ? ["settings", "delete", namespace, name]
    : ["settings", "put", namespace, name, value];

function rotate(session: AndroidSession): Command {
  const input = rotateOffer.input.extend({
    upside_down: z.boolean().default(false).describe("Turned by another 180 degrees."),
  });
  const [sensor, user] = ["accelerometer_rotation", "user_rotation"];
  return defineCommand<typeof input>({
    ...rotateOffer,
    input,
    async run({ to, upside_down }, signal) {
      const { device } = session;
      const { isTv, screen } = device.facts();
      if (isTv) throw new DeviceError("DEVICE_ERROR", noTurning);
      const wanted = angleOf(screen, to, upside_down);
      const restore = ([wasSensor, wasUser]: readonly string[]) => [
        putting("system", user, wasUser),
        putting("system", sensor, wasSensor),
      ];
      const ask = [getting("system", sensor), getting("system", user)];
      const set = [putting("system", sensor, "0"), putting("system", user, `${wanted / 90}`)];
      await change(session, { name: "rotation", ask, restore, set }, signal);
      let angle: number | undefined;
      const isTurned = async () => {
        angle = (await readDisplay(device, signal))?.rotation;
        return angle === wanted;
      };
      await poll(isTurned, { everyMs: lookEveryMs, ms: takenMs, signal });
      session.reader.driven();
      const now = angle === undefined ? undefined : orientationAt(screen, angle);
      return { ...sent(turned(to, now)), ...(now && { data: { orientation: now, angle } }) };
    },
  });
}

/** The orientation of a screen of this natural size, turned by so many degrees. */
const orientationAt = ({ width, height }: AndroidFacts["screen"], angle: number): Orientation =>
  (angle % 180 === 0) === height >= width ? "portrait" : "landscape";

/** As Android turns its screens (AOSP, DisplayRotation.configure). */
function angleOf(screen: AndroidFacts["screen"], to: Orientation, isUpsideDown: boolean): number {
  const isNatural = orientationAt(screen, 0) === to;
  const usual = isNatural ? 0 : to === "landscape" ? 90 : 270;
  return isUpsideDown ? (usual + 180) % 360 : usual;
}

function setDarkMode(session: AndroidSession): Command {
  const input = z.strictObject({ on: z.boolean() });
  const line = ["cmd", "uimode", "night"];
  return defineCommand<typeof input>({
    name: "set_dark_mode",
    description: "Switches the dark look of the system and of apps that follow it.",
    effect: "write",
    input,
    async run({ on }, signal) {
      const restore = ([said = ""]: readonly string[]) => {
        const was = /Night mode: (\w+)/.exec(said)?.[1];
        return was === undefined ? [] : [[...line, was]];
      };
      const wanted = on ? "yes" : "no";
      await change(session, { name: "dark mode", ask: [line], restore, set: [[...line, wanted]] }, signal);
      const what = `switch its dark mode ${word(on)}`;
      await confirm(session, { line, wanted: new RegExp(`Night mode: ${wanted}\\b`), what }, signal);
      return sent(`dark mode is ${word(on)}`);
    },
  });
}

function setFontScale(session: AndroidSession): Command {
  const input = z.strictObject({ scale: z.number().min(0.5).max(3).describe("1 is the usual size.") });
  const name = "font_scale";
  return defineCommand<typeof input>({
    name: "set_font_scale",
    description: "Sets the size of texts.",
    effect: "write",
    input,
    async run({ scale }, signal) {
      const restore = ([was]: readonly string[]) => [putting("system", name, was)];
      const [line, set] = [getting("system", name), [putting("system", name, `${scale}`)]];
      await change(session, { name, ask: [line], restore, set }, signal);
      const wanted = { test: (said: string) => Number(said) === scale };
      await confirm(session, { line, wanted, what: "set the size of texts" }, signal);
      return sent(`texts have ${scale} times their usual size`);
    },
  });
}

function setAirplaneMode(session: AndroidSession): Command {
  const input = z.strictObject({ on: z.boolean() });
  const line = getting("global", "airplane_mode_on");
  const setting = (on: boolean) => ["cmd", "connectivity", "airplane-mode", on ? "enable" : "disable"];
  return defineCommand<typeof input>({
    name: airplane,
    description: "Switches airplane mode. Needs Android 11, and adb over USB.",
    effect: "write",
    input,
    async run({ on }, signal) {
      if (session.device.facts().api < firstWithAirplane) throw new DeviceError("DEVICE_ERROR", noAirplane);
      if (on) mustHaveCable(session, "airplane mode");
      const restore = ([was]: readonly string[]) => [setting(was === "1")];
      await change(session, { name: "airplane mode", ask: [line], restore, set: [setting(on)] }, signal);
      const what = `switch airplane mode ${word(on)}`;
      await confirm(session, { line, wanted: on ? /^1/ : /^0/, what }, signal);
      return sent(`airplane mode is ${word(on)}`);
    },
  });
}

function setNetwork(session: AndroidSession): Command {
  const input = z
    .strictObject({ wifi: z.boolean().optional(), data: z.boolean().optional().describe("Mobile data.") })
    .refine(({ wifi, data }) => wifi !== undefined || data !== undefined, "give wifi or data");
  return defineCommand<typeof input>({
    name: "set_network",
    description: "Switches Wi-Fi and mobile data. Wi-Fi goes off only with adb over USB.",
    effect: "write",
    input,
    async run({ wifi, data }, signal): Promise<CommandResult> {
      if (wifi === false) mustHaveCable(session, "no Wi-Fi");
      const done: string[] = [];
      for (const [radio, on] of [["wifi", wifi] as const, ["data", data] as const]) {
        if (on === undefined) continue;
        await setRadio(session, radio, on, signal);
        done.push(`${radio} is ${word(on)}`);
      }
      return sent(done.join(", "));
    },
  });
}

/** `isOn` reads what `ask` prints. */
type Radio = { ask: Line; isOn(said: string): boolean; title: string };
const radios: Readonly<Record<"wifi" | "data", Radio>> = {
  wifi: { ask: getting("global", "wifi_on"), isOn: (said) => /^[1-9]/.test(said), title: "Wi-Fi" },
  data: { ask: ["settings", "list", "global"], isOn: isDataOn, title: "mobile data" },
};

/** With several SIM cards each has a setting of its own, `mobile_data2`, and the one that is used for data counts. */
function isDataOn(settings: string): boolean {
  const card = /^multi_sim_data_call=(\d+)/m.exec(settings)?.[1] ?? "";
  const said =
    new RegExp(`^mobile_data${card}=(\\d)`, "m").exec(settings) ?? /^mobile_data=(\d)/m.exec(settings);
  return said?.[1] !== "0";
}

async function setRadio(
  session: AndroidSession,
  radio: keyof typeof radios,
  on: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { ask, isOn, title } = radios[radio];
  const setting = (wanted: boolean) => ["svc", radio, wanted ? "enable" : "disable"];
  const restore = (was: readonly string[]) => [setting(isOn(was.join("\n")))];
  await change(session, { name: radio, ask: [ask], restore, set: [setting(on)] }, signal);
  const wanted = { test: (said: string) => isOn(said) === on };
  await confirm(session, { line: ask, wanted, what: `switch ${title} ${word(on)}` }, signal);
}

export const withheldSystem = ({ isTv, api }: AndroidFacts): Withheld[] => [
  ...(isTv ? [{ name: "rotate", reason: noTurning }] : []),
  ...(api < firstWithAirplane ? [{ name: airplane, reason: noAirplane }] : []),
];

const word = (on: boolean) => (on ? "on" : "off");

function mustHaveCable({ device }: AndroidSession, without: string): void {
  if (!isOnNetwork(device.link().serial)) return;
  throw new DeviceError(
    "DEVICE_ERROR",
    `adb reaches this device by the network, and ${without} would cut it off. Connect it by USB.`,
  );
}

/** `192.168.1.7:5555`, `adb-R58…._adb-tls-connect._tcp`; an address of this machine leads to an emulator or a cable. */
export const isOnNetwork = (serial: string): boolean =>
  /_adb(?:-tls-connect)?\._tcp/.test(serial) ||
  (/:\d+$/.test(serial) && !/^(?:127\.[\d.]+|localhost|\[::1\]):\d+$/.test(serial));
