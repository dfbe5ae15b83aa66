import { z } from "zod";
import { DeviceError } from "../errors.ts";
import {
  type SensorName,
  type SensorReading,
  type SensorReport,
  type SensorSource,
  sensorNames,
} from "../ports.ts";
import { readOrientation as orientationNow } from "./commands/system.ts";
import type { AppiumDevice } from "./device.ts";

/** BatteryManager: 2 charging, 5 full. UIDevice.BatteryState: 2 charging, 3 full. */
const charging = { android: [2, 5], ios: [2, 3] };
/** Appium sends the smallest float for zero, so coordinates are rounded to about a centimetre. */
const placeDigits = 7;

const battery = z.object({ level: z.number(), state: z.number() });
const place = z.object({ latitude: z.number(), longitude: z.number() });
const networks = z.object({
  networks: z.array(z.object({ typeName: z.string().optional(), connected: z.boolean().optional() })),
});

/** Reads one sensor, or returns the reason why it cannot be read. */
type Read = (device: AppiumDevice, signal: AbortSignal) => Promise<SensorReading[] | string>;

const reads: Readonly<Record<SensorName, Read>> = {
  battery: readBattery,
  network: readNetwork,
  location: readLocation,
  orientation: readOrientation,
  accelerometer: async () => "Appium servers do not report it",
  temperature: async () => "Appium servers do not report it",
};

/** The sensors that an Appium server reads without insecure features. A refused one is absent, with the reason. */
export const createSensors = (device: AppiumDevice): SensorSource => ({
  async sensors(signal): Promise<SensorReport> {
    const readings: SensorReading[] = [];
    const absent: { name: SensorName; reason: string }[] = [];
    for (const name of sensorNames) {
      const found = await readSafely(reads[name], device, signal);
      if (typeof found === "string") absent.push({ name, reason: found });
      else readings.push(...found);
    }
    return { readings, absent };
  },
});

/** A refusal becomes the reason; a lost device throws. */
async function readSafely(read: Read, device: AppiumDevice, signal: AbortSignal) {
  try {
    return await read(device, signal);
  } catch (error) {
    const isRefusal =
      error instanceof DeviceError && (error.code === "DEVICE_ERROR" || error.code === "ACTION_REJECTED");
    if (signal.aborted || !isRefusal) throw error;
    return error.message;
  }
}

async function readBattery(device: AppiumDevice, signal: AbortSignal): ReturnType<Read> {
  const found = battery.safeParse(await device.mobile("batteryInfo", {}, signal)).data;
  // iOS: -1 and 0 where it does not know, as on a TV or a simulator.
  if (found === undefined || found.level < 0) return "the device does not say how its battery is";
  const known = device.facts().platform === "android" ? charging.android : charging.ios;
  return [
    { name: "battery.level", value: Math.round(found.level * 100), unit: "%" },
    { name: "battery.charging", value: known.includes(found.state) },
  ];
}

async function readNetwork(device: AppiumDevice, signal: AbortSignal): ReturnType<Read> {
  if (device.facts().platform !== "android") return "iOS does not give it to its drivers";
  const said = networks.safeParse(await device.mobile("deviceInfo", {}, signal)).data;
  if (said === undefined) return "the server does not say which network the device uses";
  const connected = said.networks.filter(({ connected: is }) => is === true);
  const type = connected[0]?.typeName?.toLowerCase();
  return [
    { name: "network.online", value: connected.length > 0 },
    ...(type === undefined || type === "" ? [] : [{ name: "network.type", value: type }]),
  ];
}

async function readLocation(device: AppiumDevice, signal: AbortSignal): ReturnType<Read> {
  const found = place.safeParse(await device.call("getGeoLocation", [], signal)).data;
  if (found === undefined) return "the server does not say where the device is";
  const rounded = (value: number) => Number(value.toFixed(placeDigits));
  return [
    { name: "location.latitude", value: rounded(found.latitude), unit: "°" },
    { name: "location.longitude", value: rounded(found.longitude), unit: "°" },
  ];
}

async function readOrientation(device: AppiumDevice, signal: AbortSignal): ReturnType<Read> {
  if (device.facts().isTv) return "a TV does not turn";
  const said = await orientationNow({ device }, signal);
  if (said === undefined) return "the server does not say how the screen is turned";
  return [{ name: "orientation", value: said }];
}
