import { z } from "zod";
import { type Command, defineCommand, type Withheld } from "../../contract.ts";
import { sendInput } from "../../dispatch.ts";
import { DeviceError } from "../../errors.ts";
import { packageShape } from "../../phones/apps.ts";
import { sent } from "../../screens/input.ts";
import type { AndroidFacts } from "../facts.ts";
import { type AndroidSession, sendInputs } from "../session.ts";
import { mustBeInstalled, packageInUse } from "./apps.ts";
import { change, confirm, type Line } from "./changing.ts";

/** `cmd location` came with Android 12, languages of one app with Android 13. */
const firstApi = { set_geolocation: 31, set_locale: 33 } as const;
const reasons: Readonly<Record<keyof typeof firstApi, string>> = {
  set_geolocation:
    "adb can set the place from Android 12 on. Use an app for mock locations on an older device.",
  set_locale: "The language of one app can be set from Android 13 on. Change the system's by hand.",
};
/** Apps ask one of these, or the provider that Android makes of both. */
const providers = ["gps", "network"] as const;
const providerLine = (...args: readonly string[]): Line => ["cmd", "location", "providers", ...args];
const mocking = (mode: "allow" | "default"): Line => [
  ..."appops set com.android.shell android:mock_location".split(" "),
  mode,
];
/** Removing a provider fails where none was added; the others are removed all the same. */
async function forgetPlace(device: AndroidSession["device"], signal: AbortSignal): Promise<void> {
  const removing = providers.map((provider) => providerLine("remove-test-provider", provider));
  for (const line of [...removing, mocking("default")])
    await sendInput(() => device.link().run(line, signal));
}

/** The device's location and an app's language. Both are set back when another client takes the device. */
export const placeCommands = (session: AndroidSession): Command[] => [
  setGeolocation(session),
  setLocale(session),
];

export const withheldPlaces = ({ api }: AndroidFacts): Withheld[] =>
  (["set_geolocation", "set_locale"] as const)
    .filter((name) => api < firstApi[name])
    .map((name) => ({ name, reason: reasons[name] }));

function requireApi({ device }: AndroidSession, name: keyof typeof firstApi): void {
  if (device.facts().api < firstApi[name]) throw new DeviceError("DEVICE_ERROR", reasons[name]);
}

function setGeolocation(session: AndroidSession): Command {
  const input = z
    .strictObject({
      latitude: z.number().min(-90).max(90).optional(),
      longitude: z.number().min(-180).max(180).optional(),
      accuracy: z.number().min(0).max(1_000_000).default(5).describe("Metres."),
    })
    .refine((given) => (given.latitude === undefined) === (given.longitude === undefined), {
      message: "give latitude and longitude, or neither",
    });
  return defineCommand<typeof input>({
    name: "set_geolocation",
    description: "Sets where the device is, in degrees; without a place it measures its own again.",
    effect: "write",
    input,
    async run({ latitude, longitude, accuracy }, signal) {
      requireApi(session, "set_geolocation");
      const { changes, device } = session;
      if (latitude === undefined || longitude === undefined) {
        await forgetPlace(device, signal);
        return sent("the device measures its own place");
      }
      changes.remember("place", (own) => forgetPlace(device, own));
      const place = `${latitude},${longitude}`;
      const lines = providers.flatMap((provider) => [
        providerLine("add-test-provider", provider),
        providerLine("set-test-provider-enabled", provider, "true"),
        providerLine(
          "set-test-provider-location",
          provider,
          "--location",
          place,
          "--accuracy",
          `${accuracy}`,
        ),
      ]);
      await sendInputs(session, [mocking("allow"), ...lines], signal);
      const wanted = new RegExp(`Location\\[gps ${start(latitude)}\\d*,${start(longitude)}`);
      await confirm(
        session,
        { line: ["dumpsys", "location"], wanted, what: `take the place ${place}` },
        signal,
      );
      return sent(`the device is at ${latitude}, ${longitude}`);
    },
  });
}

/** The device says more digits of a place, or rounds the sixth. */
const start = (degrees: number) => degrees.toFixed(6).slice(0, -2).replace(".", "\\.");

function setLocale(session: AndroidSession): Command {
  const input = z.strictObject({
    locale: z
      .string()
      .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/, "a language is written like de or pt-BR")
      .optional()
      .describe("Such as de or pt-BR; the system's if left out."),
    ...packageShape,
  });
  return defineCommand<typeof input>({
    name: "set_locale",
    description: "Sets the language of one app. Its screens change as far as the app has that language.",
    effect: "write",
    input,
    async run({ locale, ...app }, signal) {
      requireApi(session, "set_locale");
      const id = packageInUse(session, app);
      await mustBeInstalled(session.device, id, signal);
      const asking = ["cmd", "locale", "get-app-locales", id];
      const setting = (tags: string): Line => [
        ...["cmd", "locale", "set-app-locales", id],
        ...(tags === "" ? [] : ["--locales", tags]),
      ];
      const restore = ([said = ""]: readonly string[]) => [setting(/\[([^\]]*)\]/.exec(said)?.[1] ?? "")];
      const name = `language of ${id}`;
      await change(session, { name, ask: [asking], restore, set: [setting(locale ?? "")] }, signal);
      const wanted = new RegExp(`\\[${locale ?? ""}\\]`, "i");
      await confirm(session, { line: asking, wanted, what: `set the ${name}` }, signal);
      return sent(`the ${name} is ${locale ?? "the system's"}`);
    },
  });
}
