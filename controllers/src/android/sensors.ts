import type { SensorName, SensorReading, SensorReport, SensorSource } from "../contract.ts";
import { tidy } from "../elements/text.ts";
import type { AndroidDevice } from "./device.ts";

/** A line for the device's shell that says how its screen is turned; {@link rotationIn} reads it. */
export const rotationLine = "dumpsys window displays | grep -E 'm(Current)?Rotation='";

const mark = "--labwright--";
const questions = [
  "dumpsys battery",
  "dumpsys connectivity | grep -E 'Active default network|NetworkAgentInfo|InterfaceName'",
  "dumpsys location | grep -i 'last location='",
  rotationLine,
].join(`; echo ${mark}; `);

/** What Android's services say of the device, in one round trip. */
export function createSensors(device: AndroidDevice): SensorSource {
  return {
    async sensors(signal) {
      const { stdout } = await device.link().script(questions, signal, { mostBytes: 2_000_000 });
      const [battery = "", network = "", location = "", rotation = ""] = stdout.split(mark);
      return reportOf({ battery, network, location, rotation });
    },
  };
}

type Said = { battery: string; network: string; location: string; rotation: string };

function reportOf(said: Said): SensorReport {
  const found: Readonly<Partial<Record<SensorName, readonly SensorReading[]>>> = {
    battery: batteryOf(said.battery),
    network: networkOf(said.network),
    location: locationOf(said.location),
    orientation: orientationOf(said.rotation),
    temperature: temperatureOf(said.battery),
  };
  const why: Readonly<Record<SensorName, string>> = {
    battery: "the device says that it has none",
    network: "the device does not say which network it uses",
    location: "the device knows no last location, or location is off",
    orientation: "the device does not say how its screen is turned",
    accelerometer: "Android gives its values to apps only",
    temperature: "the device says none, which it measures in its battery",
  };
  const names = ["battery", "network", "location", "orientation", "accelerometer", "temperature"] as const;
  return {
    readings: names.flatMap((name) => found[name] ?? []),
    absent: names
      .filter((name) => (found[name] ?? []).length === 0)
      .map((name) => ({ name, reason: why[name] })),
  };
}

const numberIn = (text: string, name: string): number | undefined => {
  const found = new RegExp(`^\\s*${name}: (-?\\d+)`, "m").exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
};

function batteryOf(text: string): SensorReading[] {
  const level = numberIn(text, "level");
  if (level === undefined || /present: false/.test(text)) return [];
  const scale = numberIn(text, "scale") ?? 100;
  const status = numberIn(text, "status");
  // BatteryManager: 2 charging, 5 full.
  return [
    { name: "battery.level", value: Math.round((level / scale) * 100), unit: "%" },
    { name: "battery.charging", value: status === 2 || status === 5 },
  ];
}

/** In tenths of a degree. */
function temperatureOf(text: string): SensorReading[] {
  const tenths = numberIn(text, "temperature");
  if (tenths === undefined || /present: false/.test(text)) return [];
  return [{ name: "temperature", value: tenths / 10, unit: "°C" }];
}

function networkOf(text: string): SensorReading[] {
  const active = /Active default network: (\w+)/.exec(text)?.[1];
  if (active === undefined) return [];
  const isOnline = active !== "none";
  const type = /\b(WIFI|MOBILE|CELLULAR|ETHERNET|VPN|BLUETOOTH)\b/.exec(text)?.[1];
  return [
    { name: "network.online", value: isOnline },
    ...(isOnline && type !== undefined ? [{ name: "network.type", value: type.toLowerCase() }] : []),
  ];
}

/** `last location=Location[fused 48.858400,2.294500 hAcc=12.0 …]`; of several providers the first. */
function locationOf(text: string): SensorReading[] {
  const [, latitude, longitude] = /Location\[\w+ (-?\d+[.,]\d+),(-?\d+[.,]\d+)/.exec(tidy(text)) ?? [];
  if (latitude === undefined || longitude === undefined) return [];
  return [
    { name: "location.latitude", value: Number(latitude.replace(",", ".")), unit: "°" },
    { name: "location.longitude", value: Number(longitude.replace(",", ".")), unit: "°" },
  ];
}

function orientationOf(text: string): SensorReading[] {
  const angle = rotationIn(text);
  return angle === undefined ? [] : [{ name: "orientation.angle", value: angle, unit: "°" }];
}

/** `mCurrentRotation=ROTATION_90`, `mRotation=ROTATION_90`, and before Android 11 a number of quarters; the first display's. */
export function rotationIn(text: string): 0 | 90 | 180 | 270 | undefined {
  const [, degrees, quarters] = /m(?:Current)?Rotation=(?:ROTATION_(\d+)|([0-3]))/.exec(text) ?? [];
  const angle = degrees === undefined ? Number(quarters) * 90 : Number(degrees);
  return ([0, 90, 180, 270] as const).find((one) => one === angle);
}
