import { z } from "zod";
import { DeviceError } from "../../errors.ts";
import type { SensorReport, SensorSource } from "../../ports.ts";
import { ask } from "../acting/question.ts";
import type { DrivenSession } from "../browser/session.ts";

const DEADLINE_MS = 5_000;

/** What the page itself answers. A page may lie; its answer is checked for form and length only. */
const answerSchema = z.object({
  online: z.boolean(),
  connection: z
    .object({
      effectiveType: z.string().max(20).optional(),
      downlink: z.number().optional(),
      rtt: z.number().optional(),
    })
    .optional(),
  battery: z.object({ level: z.number(), charging: z.boolean(), isKnown: z.boolean() }).optional(),
  orientation: z.object({ type: z.string().max(40), angle: z.number() }).optional(),
});
type Answer = z.output<typeof answerSchema>;

const fullOrNone = "the browser says full and charging, which is also what it says where there is no battery";
const never: SensorReport["absent"] = [
  { name: "location", reason: "none is emulated, and a browser's own would be a guess from its network" },
  { name: "accelerometer", reason: "a browser on a computer has none" },
  { name: "temperature", reason: "browsers measure none" },
];

/** What a browser lets its pages know of the machine, asked of the current tab. */
export function createSensors(session: DrivenSession): SensorSource {
  return {
    sensors(signal) {
      const question = { what: "reading the sensors", silence: "did not answer", ms: DEADLINE_MS, signal };
      return ask(session, question, async () => {
        const { data } = answerSchema.safeParse(await session.page().evaluate(askPage));
        if (data !== undefined) return reportOf(data);
        throw new DeviceError(
          "DEVICE_ERROR",
          "The page has replaced the browser's own functions. Open another page and try again.",
        );
      });
    },
  };
}

function reportOf({ online, connection = {}, battery, orientation }: Answer): SensorReport {
  const { effectiveType, downlink, rtt } = connection;
  const readings: readonly { name: string; value: number | string | boolean | undefined; unit?: string }[] = [
    {
      name: "battery.level",
      value: battery?.isKnown ? Math.round(battery.level * 100) : undefined,
      unit: "%",
    },
    { name: "battery.charging", value: battery?.isKnown ? battery.charging : undefined },
    { name: "network.online", value: online },
    { name: "network.effective_type", value: effectiveType },
    { name: "network.downlink", value: downlink, unit: "Mbit/s" },
    { name: "network.round_trip", value: rtt, unit: "ms" },
    { name: "orientation.type", value: orientation?.type },
    { name: "orientation.angle", value: orientation?.angle, unit: "°" },
  ];
  const noBattery = battery ? fullOrNone : "only Chromium reports it, and only to secure pages (https)";
  return {
    readings: readings.flatMap(({ value, ...rest }) => (value === undefined ? [] : [{ ...rest, value }])),
    absent: [
      ...(battery?.isKnown ? [] : [{ name: "battery" as const, reason: noBattery }]),
      ...(orientation ? [] : [{ name: "orientation" as const, reason: "this browser does not report it" }]),
      ...never,
    ],
  };
}

// Runs in the page. TypeScript's DOM library lacks what only Chromium has.
async function askPage() {
  type Connection = { effectiveType?: string; downlink?: number; rtt?: number };
  type Battery = { level: number; charging: boolean; chargingTime: number; dischargingTime: number };
  type Extras = { connection?: Connection; getBattery?: () => Promise<Battery> };
  const extras: Navigator & Extras = navigator;
  // What the Battery Status API has a browser say that knows of no battery.
  const isKnown = (it: Battery) =>
    !it.charging ||
    it.level !== 1 ||
    it.chargingTime !== 0 ||
    it.dischargingTime !== Number.POSITIVE_INFINITY;
  const battery = await extras.getBattery?.().catch(() => undefined);
  const { connection } = extras;
  return {
    online: navigator.onLine,
    ...(connection && {
      connection: {
        effectiveType: connection.effectiveType,
        downlink: connection.downlink,
        rtt: connection.rtt,
      },
    }),
    ...(battery && {
      battery: { level: battery.level, charging: battery.charging, isKnown: isKnown(battery) },
    }),
    ...(screen.orientation && {
      orientation: { type: screen.orientation.type, angle: screen.orientation.angle },
    }),
  };
}
