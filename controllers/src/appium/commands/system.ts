import { z } from "zod";
import { type Command, defineCommand, type Withheld } from "../../contract.ts";
import { sent } from "../../screens/hand.ts";
import { noTurning, orientations, rotateOffer, turned } from "../../screens/turning.ts";
import type { Changes } from "../changes.ts";
import type { AppiumFacts } from "../facts.ts";
import { type AppiumSession, input } from "../session.ts";

const nothing = z.strictObject({});
const textInput = z.strictObject({ text: z.string().max(100_000) });
const placeInput = z.strictObject({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
});

/** The screen's position, the clipboard and the place of the device. */
export function systemCommands(session: AppiumSession, changes: Changes): Command[] {
  return [rotate(session, changes), ...clipboardCommands(session), setGeolocation(session, changes)];
}

export async function readOrientation({ device }: Pick<AppiumSession, "device">, signal: AbortSignal) {
  const said = z
    .string()
    .safeParse(await device.call("getOrientation", [], signal))
    .data?.toLowerCase();
  return orientations.find((one) => one === said);
}

function rotate(session: AppiumSession, changes: Changes): Command {
  const { device } = session;
  return defineCommand({
    ...rotateOffer,
    async run({ to }, signal) {
      const before = await readOrientation(session, signal);
      const set = (wanted: string, own: AbortSignal) =>
        input(session, () => device.call("setOrientation", [wanted.toUpperCase()], own));
      if (before !== undefined) changes.remember("orientation", (own) => set(before, own));
      await set(to, signal);
      const now = await readOrientation(session, signal);
      return { ...sent(turned(to, now)), ...(now && { data: { orientation: now } }) };
    },
  });
}

function clipboardCommands({ device }: AppiumSession): Command[] {
  return [
    defineCommand<typeof nothing>({
      name: "read_clipboard",
      description: "Gives the text of the clipboard as value.",
      effect: "read",
      input: nothing,
      async run(_input, signal) {
        const base64 = z.string().parse(await device.call("getClipboard", ["plaintext"], signal));
        const text = Buffer.from(base64, "base64").toString("utf8");
        return { message: `the clipboard holds ${text.length} characters`, data: { value: text } };
      },
    }),
    defineCommand<typeof textInput>({
      name: "write_clipboard",
      description: "Puts a text in the clipboard.",
      effect: "write",
      input: textInput,
      async run({ text }, signal) {
        await device.call("setClipboard", [Buffer.from(text).toString("base64"), "plaintext"], signal);
        return sent("the clipboard has the text");
      },
    }),
  ];
}

function setGeolocation(session: AppiumSession, changes: Changes): Command {
  const { device } = session;
  return defineCommand<typeof placeInput>({
    name: "set_geolocation",
    description: "Tells the device's apps another place.",
    effect: "write",
    input: placeInput,
    async run({ latitude, longitude }, signal) {
      const isOfAndroid = device.facts().platform === "android";
      const [set, reset] = isOfAndroid
        ? ["setGeolocation", "resetGeolocation"]
        : ["setSimulatedLocation", "resetSimulatedLocation"];
      changes.remember("location", (own) => device.mobile(reset, {}, own));
      await input(session, () => device.mobile(set, { latitude, longitude }, signal));
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
