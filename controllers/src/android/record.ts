import { DeviceError } from "../errors.ts";
import { AndroidDevice } from "./device.ts";
import type { Link } from "./link.ts";
import { androidSettingsSchema } from "./settings.ts";

/** What a device says of itself, in the shape of the laboratory's personas. */
export type AndroidRecording = {
  about: string;
  apiLevel: number;
  isTv: boolean;
  screen: { width: number; height: number; density: number };
  properties: Readonly<Record<string, string>>;
  features: readonly string[];
  settings: Readonly<Record<"system" | "secure" | "global", Readonly<Record<string, string>>>>;
  packages: readonly {
    name: string;
    label: string;
    versionCode: number;
    versionName: string;
    isSystem: boolean;
  }[];
  outputs: Readonly<Record<string, string>>;
  delays: readonly { command: string; ms: number; source: string }[];
};

export type RecordOptions = {
  serial?: string | undefined;
  signal: AbortSignal;
  progress(line: string): void;
};

const namespaces = ["system", "secure", "global"] as const;
const longestOutput = 100_000;
const recordedLines = [
  ...["battery", "thermalservice", "deviceidle"].map((service) => `dumpsys ${service}`),
  ...["df", "df -h", "ime list -s", "getenforce", "id", "uname -a", "cmd -l", "dumpsys -l", "service list"],
];
/** The full text would reveal the networks around the device. */
const shortened: Readonly<Record<string, string>> = {
  "dumpsys wifi": "dumpsys wifi | grep -e 'Wi-Fi is' -e mWifiInfo",
};
/** Properties that identify neither a person nor a single device. */
const harmlessProperty =
  /^(?:ro\.(?:build|product|hardware|boot\.hardware|sf|debuggable|secure|vendor\.build)|persist\.sys\.(?:locale|timezone)|sys\.boot_completed|dev\.bootcomplete|init\.svc\.bootanim)(?:\.|$)/;
const harmlessSettings: ReadonlySet<string> = new Set([
  ...["accelerometer_rotation", "font_scale", "screen_brightness", "screen_off_timeout", "user_rotation"],
  ...["default_input_method", "enabled_input_methods", "location_mode", "show_ime_with_hard_keyboard"],
  ...["ui_night_mode", "accessibility_enabled", "adb_enabled", "airplane_mode_on", "mobile_data", "wifi_on"],
  ...["animator_duration_scale", "transition_animation_scale", "window_animation_scale"],
]);
/** Each is run three times. The key has no meaning to any app. */
const timedLines = ["uiautomator dump /dev/null", "screencap", "screencap -p", "input keyevent 0"];

/**
 * Reads from a device what the laboratory can play: properties, features, settings, apps, texts of services, and how long
 * commands take. Only what names no person is taken; addresses and names of networks are masked. The device is
 * left as it was. Throws INVALID_PARAMS, and what opening a device throws.
 */
export async function recordAndroid({ serial, signal, progress }: RecordOptions): Promise<AndroidRecording> {
  const settings = androidSettingsSchema.safeParse({ serial });
  if (!settings.success)
    throw new DeviceError(
      "INVALID_PARAMS",
      `${JSON.stringify(serial)} is not a serial: give one that adb devices lists.`,
    );
  const device = new AndroidDevice(settings.data);
  await device.open(signal);
  try {
    const { make, model, release, api, isTv, screen, density } = device.facts();
    const link = device.link();
    progress(`${make} ${model}, Android ${release}`);
    const packages = await readPackages(link, signal);
    progress(`${packages.length} apps`);
    const outputs = await readOutputs(link, signal);
    progress(`${Object.keys(outputs).length} texts of services`);
    const source = `Median of three on a ${make} ${model} with Android ${release}, without the time of a command that does nothing`;
    return {
      about: `${make} ${model}, Android ${release}, recorded on ${new Date().toISOString().slice(0, 10)}`,
      apiLevel: api,
      isTv,
      screen: { ...screen, density },
      properties: await readProperties(link, signal),
      features: await readFeatures(link, signal),
      settings: await readSettings(link, signal),
      packages,
      outputs,
      delays: await measure(link, source, signal),
    };
  } finally {
    await device.close();
  }
}

async function readProperties(link: Link, signal: AbortSignal): Promise<Record<string, string>> {
  const { stdout } = await link.run(["getprop"], signal);
  const pairs = [...stdout.matchAll(/^\[([^\]]+)\]: \[([^\]]*)\]$/gm)].map(
    ([, name = "", value = ""]) => [name, masked(value)] as const,
  );
  return Object.fromEntries(pairs.filter(([name]) => harmlessProperty.test(name) && !/serial/i.test(name)));
}

async function readFeatures(link: Link, signal: AbortSignal): Promise<string[]> {
  const { stdout } = await link.run(["pm", "list", "features"], signal);
  return [...stdout.matchAll(/^feature:(\w+\.[\w.]+)/gm)].map(([, name = ""]) => name);
}

async function readSettings(link: Link, signal: AbortSignal): Promise<AndroidRecording["settings"]> {
  const read = async (namespace: string) => {
    const { stdout } = await link.run(["settings", "list", namespace], signal);
    const pairs = [...stdout.matchAll(/^(\w+)=(.*)$/gm)].map(
      ([, name = "", value = ""]) => [name, value.trim()] as const,
    );
    return Object.fromEntries(pairs.filter(([name]) => harmlessSettings.has(name)));
  };
  const [system = {}, secure = {}, global = {}] = await Promise.all(namespaces.map(read));
  return { system, secure, global };
}

async function readPackages(link: Link, signal: AbortSignal): Promise<AndroidRecording["packages"]> {
  const list = async (...options: string[]) => {
    // Of the first user: of all, the shell may not ask where a work profile is.
    const line = ["pm", "list", "packages", "--show-versioncode", "--user", "0", ...options];
    const { stdout } = await link.run(line, signal);
    return [...stdout.matchAll(/^package:([\w.]+)(?: versionCode:(\d+))?/gm)];
  };
  const ofSystem = new Set((await list("-s")).map(([, name]) => name));
  return (await list()).map(([, name = "", code = "0"]) => ({
    name,
    label: name.split(".").at(-1) ?? name,
    versionCode: Number(code),
    versionName: code,
    isSystem: ofSystem.has(name),
  }));
}

async function readOutputs(link: Link, signal: AbortSignal): Promise<Record<string, string>> {
  const outputs: Record<string, string> = {};
  const lines = [...recordedLines.map((line) => [line, line] as const), ...Object.entries(shortened)];
  for (const [name, line] of lines) {
    const { code, stdout } = await link.script(line, signal);
    if (code === 0 && stdout !== "") outputs[name] = masked(stdout.slice(0, longestOutput));
  }
  return outputs;
}

/** Addresses of networks and devices, names of networks, and mail addresses. */
const masked = (text: string): string =>
  text
    .replace(/\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/gi, "02:00:00:00:00:00")
    .replace(/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, "192.0.2.1")
    .replace(/\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{0,4}(?::[0-9a-f]{1,4})*\b/gi, (found) =>
      found === "02:00:00:00:00:00" ? found : "2001:db8::1",
    )
    .replace(/[\w.+-]+@[\w-]+\.[\w.]+/g, "user@example.com")
    .replace(/(SSID: ?)"[^"]*"/g, '$1"network"');

async function measure(link: Link, source: string, signal: AbortSignal): Promise<AndroidRecording["delays"]> {
  const nothing = await medianOf(link, "true", signal);
  const delays: { command: string; ms: number; source: string }[] = [];
  for (const line of timedLines) {
    const ms = Math.max(0, Math.round((await medianOf(link, line, signal)) - nothing));
    const command = line.replace(/ \/dev\/null$| keyevent 0$/, "");
    delays.push({ command, ms, source });
  }
  return delays;
}

async function medianOf(link: Link, line: string, signal: AbortSignal): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const started = performance.now();
    await link.bytes(line, signal, { timeoutMs: 60_000, mostBytes: 64_000_000 }).catch((error: unknown) => {
      // A screen that never rests or may not be seen has a time, too.
      if (!(error instanceof DeviceError) || error.code !== "DEVICE_ERROR") throw error;
    });
    times.push(performance.now() - started);
  }
  return times.toSorted((a, b) => a - b)[1] ?? 0;
}
