import { z } from "zod";
import { platformOf } from "./facts.ts";
import { type Preset, presetNames, presets } from "./presets.ts";

/** A placeholder of a secret, which is filled in only when the device is made. */
const isAddress = (url: string) =>
  (/^https?:\/\/\S+$/.test(url) && (url.includes("{{") || URL.canParse(url))) || /^\{\{\s*secret\./.test(url);

export const appiumSettingsSchema = z
  .strictObject({
    url: z
      .string()
      .max(2_000)
      .refine(isAddress, "an address of an Appium server, such as http://127.0.0.1:4723")
      .optional()
      .describe(
        "Of the Appium server or cloud, with user and key where it needs them; that of the preset if left out.",
      ),
    preset: z.enum(presetNames).optional().describe("A cloud that is known by its documents."),
    capabilities: z
      .record(z.string().min(1).max(200), z.unknown())
      .default({})
      .describe("As Appium takes them: platformName, appium:automationName, appium:udid …"),
    app: z
      .string()
      .max(2_000)
      .optional()
      .describe("The capability appium:app: a path on the server, an address, or a cloud's name of an app."),
    link_schemes: z
      .array(z.string().regex(/^[a-z][a-z0-9+.-]*$/))
      .default([])
      .describe(
        "Schemes of links that open_deep_link may open, besides http, https and that of the app in use.",
      ),
  })
  .refine(({ url, preset }) => url !== undefined || (preset && presets[preset].url) !== undefined, {
    message: "give url, or a preset that has an address of its own",
    path: ["url"],
  });

export type AppiumSettings = z.output<typeof appiumSettingsSchema>;

export type Wanted = {
  url: string;
  headers: Readonly<Record<string, string>>;
  capabilities: Readonly<Record<string, unknown>>;
};

/** Default idle timeout of a session. */
const idleSeconds = 300;
/** How long to wait for a moving screen before it is read. */
const restMs = 200;

export const presetOf = ({ preset }: AppiumSettings): Preset | undefined => preset && presets[preset];

/** The session that the settings ask for. The user's settings override the preset. User and key of the address go with each request. */
export function wantedSession(settings: AppiumSettings): Wanted {
  const preset = presetOf(settings);
  const address = new URL(settings.url ?? preset?.url ?? "");
  const { username, password } = address;
  address.username = "";
  address.password = "";
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers =
    username === "" ? {} : { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
  const own = {
    ...settings.capabilities,
    ...(settings.app !== undefined && { "appium:app": settings.app }),
  };
  return {
    url: address.href,
    headers,
    capabilities: { ...usual(own, preset), ...own, ...options(own, preset) },
  };
}

type Capabilities = Readonly<Record<string, unknown>>;

function usual(own: Capabilities, preset: Preset | undefined): Capabilities {
  const isOfAndroid = platformOf(own) === "android";
  return {
    "appium:automationName": isOfAndroid ? "UiAutomator2" : "XCUITest",
    "appium:newCommandTimeout": preset?.idleSeconds ?? idleSeconds,
    ...(isOfAndroid && { "appium:settings[waitForIdleTimeout]": restMs }),
    ...preset?.capabilities,
  };
}

/** The cloud's own options, those of the user first. */
function options(own: Capabilities, preset: Preset | undefined): Capabilities {
  if (preset?.option === undefined) return {};
  const given = own[preset.option];
  return { [preset.option]: { ...preset.options, ...(typeof given === "object" ? given : {}) } };
}
