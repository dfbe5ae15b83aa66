import { platformOf } from "./facts.ts";
import { type Preset, presets } from "./presets.ts";
import type { AppiumSettings } from "./settings.ts";

/** A session as it is asked for. */
export type Wanted = {
  url: string;
  headers: Readonly<Record<string, string>>;
  capabilities: Readonly<Record<string, unknown>>;
};

/** A session that nobody uses is kept for so long, unless the configuration says otherwise. */
const idleSeconds = 300;
/** A screen that always moves is waited for so long before it is read. */
const restMs = 200;

export const presetOf = ({ preset }: AppiumSettings): Preset | undefined => preset && presets[preset];

/** What the settings ask for: those of the preset, below what the user wrote. User and key of the address go with each request. */
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
