import { z } from "zod";
import { type Command, defineCommand, type Withheld } from "../../contract.ts";
import { sendInput } from "../../dispatch.ts";
import { DeviceError } from "../../errors.ts";
import {
  type ClipboardPort,
  type KeyboardPort,
  noTurning,
  orientations,
  rotateOffer,
  turned,
} from "../../phones/system.ts";
import type { DialogPort } from "../../screens/dialogCommand.ts";
import { sent } from "../../screens/input.ts";
import type { AppiumFacts } from "../facts.ts";
import { answerAs } from "../failures.ts";
import type { AppiumParts, AppiumSession } from "../session.ts";
import { pressKey } from "./keys.ts";

const placeInput = z.strictObject({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
});

export const systemCommands = (session: AppiumSession): Command[] => [
  rotate(session),
  setGeolocation(session),
];

export async function readOrientation({ device }: Pick<AppiumSession, "device">, signal: AbortSignal) {
  const said = z
    .string()
    .safeParse(await device.call("getOrientation", [], signal))
    .data?.toLowerCase();
  return orientations.find((one) => one === said);
}

function rotate(session: AppiumSession): Command {
  const { changes, device } = session;
  return defineCommand({
    ...rotateOffer,
    async run({ to }, signal) {
      const before = await readOrientation(session, signal);
      const set = (wanted: string, own: AbortSignal) =>
        session.reader.send(() => device.call("setOrientation", [wanted.toUpperCase()], own));
      if (before !== undefined) changes.remember("orientation", (own) => set(before, own));
      await set(to, signal);
      const now = await readOrientation(session, signal);
      return { ...sent(turned(to, now)), ...(now && { data: { orientation: now } }) };
    },
  });
}

export const createClipboard = ({ device }: AppiumSession): ClipboardPort => ({
  note: "",
  async write(content, _text, signal) {
    await sendInput(() => device.call("setClipboard", [content, "plaintext"], signal));
    return "the clipboard has the text";
  },
  read: async (signal) =>
    answerAs(z.string(), "getClipboard", await device.call("getClipboard", ["plaintext"], signal)),
});

export const createKeyboard = (session: AppiumSession): KeyboardPort => ({
  isShown: (signal) => readKeyboard(session, signal),
  hide: (signal) => hideKeyboard(session, signal),
});

export const readKeyboard = async ({ device }: Pick<AppiumSession, "device">, signal: AbortSignal) =>
  (await device.call("isKeyboardShown", [], signal)) === true;

/** Throws ELEMENT_NOT_ACTIONABLE where the app gives no way to hide it, as iOS often does. */
export async function hideKeyboard(session: AppiumParts, signal: AbortSignal): Promise<void> {
  try {
    await session.reader.send(() => session.device.mobile("hideKeyboard", {}, signal));
  } catch (error) {
    if (!(error instanceof DeviceError) || error.code !== "DEVICE_ERROR") throw error;
    throw new DeviceError(
      "ELEMENT_NOT_ACTIONABLE",
      "The keyboard did not close: the app offers no key that hides it. Press ENTER, or tap outside the field.",
    );
  }
}

/** For alerts of iOS itself, which are in no app's tree, and for TVs. */
export const createDialogs = (session: AppiumSession): DialogPort => ({
  fill: async (_field, text, signal) =>
    void (await session.reader.send(() => session.device.call("sendAlertText", [text], signal))),
  goBack: (signal) => pressKey(session, "BACK", 1, signal),
  async answer(accept, isSeen, signal) {
    const { isTv, platform } = session.device.facts();
    if (isSeen ? !isTv : platform === "android") return false;
    try {
      await session.reader.send(() =>
        session.device.call(accept ? "acceptAlert" : "dismissAlert", [], signal),
      );
      return true;
    } catch (error) {
      const isNone = error instanceof DeviceError && error.details.wire_error === "no such alert";
      if (isSeen || !isNone) throw error;
      return false;
    }
  },
});

function setGeolocation(session: AppiumSession): Command {
  const { changes, device } = session;
  return defineCommand<typeof placeInput>({
    name: "set_geolocation",
    description: "Reports another location to the device's apps.",
    effect: "write",
    input: placeInput,
    async run({ latitude, longitude }, signal) {
      const isOfAndroid = device.facts().platform === "android";
      const [set, reset] = isOfAndroid
        ? ["setGeolocation", "resetGeolocation"]
        : ["setSimulatedLocation", "resetSimulatedLocation"];
      changes.remember("location", (own) => device.mobile(reset, {}, own));
      await session.reader.send(() => device.mobile(set, { latitude, longitude }, signal));
      return sent(`the device is at ${latitude}, ${longitude}`);
    },
  });
}

export const withheldSystem = ({ isTv, platform }: AppiumFacts): Withheld[] => [
  ...(isTv ? [{ name: "rotate", reason: noTurning }] : []),
  ...(platform === "tvos"
    ? ["read_clipboard", "write_clipboard", "set_geolocation"].map((name) => ({
        name,
        reason: "An Apple TV has none of it.",
      }))
    : []),
];
