import type { SensorName, SensorReading, SensorReport, SensorSource } from "../ports.ts";
import type { AndroidDevice } from "./device.ts";
import { displayIn, displayLine } from "./ui/screenFacts.ts";

const mark = "--labwright--";
const questions = [
  "dumpsys battery",
  "dumpsys connectivity | grep -E 'Active default network|NetworkAgentInfo'",
  "dumpsys location | grep -E '(^ +[a-z]+: |last location=)Location\\['",
  displayLine,
].join(`; echo ${mark}; `);

export function createSensors(device: AndroidDevice): SensorSource {
  return {
    async sensors(signal) {
      const { stdout } = await device.link().script(questions, signal, { mostBytes: 2_000_000 });
      const [battery = "", network = "", location = "", display = ""] = stdout.split(mark);
      return reportOf({ battery, network, location, display });
    },
  };
}

type Said = { battery: string; network: string; location: string; display: string };

function reportOf(said: Said): SensorReport {
  const found: Readonly<Partial<Record<SensorName, readonly SensorReading[]>>> = {
    battery: batteryOf(said.battery),
    network: networkOf(said.network),
    location: locationOf(said.location),
    orientation: orientationOf(said.display),
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

/** A device without a battery says so, or that its level is the least of all numbers. */
export function batteryOf(text: string): SensorReading[] {
  const level = numberIn(text, "level");
  const scale = numberIn(text, "scale") ?? 100;
  if (level === undefined || level < 0 || level > scale || /present: false/.test(text)) return [];
  const status = numberIn(text, "status");
  // BatteryManager: 2 charging, 5 full.
  return [
    { name: "battery.level", value: Math.round((level / scale) * 100), unit: "%" },
    { name: "battery.charging", value: status === 2 || status === 5 },
  ];
}

function temperatureOf(text: string): SensorReading[] {
  const tenths = numberIn(text, "temperature");
  if (tenths === undefined || /present: false/.test(text)) return [];
  return [{ name: "temperature", value: tenths / 10, unit: "°C" }];
}

/** Of several networks the active one. `NetworkAgentInfo{network{101} … nc{[ Transports: WIFI|VPN Capabilities: …`, on one line. */
export function networkOf(text: string): SensorReading[] {
  const active = /Active default network: (\w+)/.exec(text)?.[1];
  if (active === undefined) return [];
  const own = text
    .split("\n")
    .find((line) => line.includes("NetworkAgentInfo{") && line.includes(`network{${active}}`));
  const type = /\bTransports: ([A-Z_|]+)/.exec(own ?? "")?.[1];
  return [
    { name: "network.online", value: active !== "none" },
    ...(type === undefined ? [] : [{ name: "network.type", value: type.toLowerCase() }]),
  ];
}

/**
 * Of several providers the latest: `last location=Location[gps 48.858400,2.294500 hAcc=12.0 et=+1h2m3s4ms …]`, and until Android
 * 10 `gps: Location[gps …`. `et` is the time since the device started.
 */
export function locationOf(text: string): SensorReading[] {
  const places = [...text.matchAll(/Location\[\w+ (-?\d+[.,]\d+),(-?\d+[.,]\d+)[^\n]*/g)];
  const [latest] = places.toSorted(([a], [b]) => secondsOf(b) - secondsOf(a));
  const [, latitude, longitude] = latest ?? [];
  if (latitude === undefined || longitude === undefined) return [];
  return [
    { name: "location.latitude", value: Number(latitude.replace(",", ".")), unit: "°" },
    { name: "location.longitude", value: Number(longitude.replace(",", ".")), unit: "°" },
  ];
}

const secondsIn: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1, ms: 0.001 };

/** `et=+1d2h3m4s5ms` */
function secondsOf(place: string): number {
  const parts = /\bet=\+?((?:\d+(?:d|h|ms|m|s))+)/.exec(place)?.[1] ?? "";
  return [...parts.matchAll(/(\d+)(d|h|ms|m|s)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (secondsIn[unit ?? ""] ?? 0),
    0,
  );
}

function orientationOf(text: string): SensorReading[] {
  const display = displayIn(text);
  return display ? [{ name: "orientation.angle", value: display.rotation, unit: "°" }] : [];
}
