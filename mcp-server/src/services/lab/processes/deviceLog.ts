import type { Controller, LogLine } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import { controllersWith, reasonsOf, using } from "../../devices/portOf.ts";
import type { CallContext, DeviceEntry, OpenDevice } from "../../ports.ts";
import type { LogRecord } from "./logLine.ts";
import type { ProcessDependencies } from "./types.ts";

/** More than a device's own buffer holds, as a rule. */
const mostLines = 20_000;

type Devices = ProcessDependencies["devices"];

/** What the device itself wrote, newest first. Throws CONTROLLER_UNAVAILABLE for a device that keeps no log. */
export async function deviceRecords(
  { id }: DeviceEntry,
  devices: Devices,
  context: CallContext,
): Promise<LogRecord[]> {
  const { device, signal, done } = await devices.acquire({ device_id: id }, context, { drives: false });
  try {
    const logging = controllersWith(device, "logs");
    if (logging.length === 0) throw await noDeviceLog(device, devices, context);
    const linesOf = async ({ logs }: Controller) => (await logs?.lines({ limit: mostLines }, signal)) ?? [];
    const read = await Promise.all(logging.map((one) => using(device, one, signal, () => linesOf(one))));
    const newestFirst = read.flatMap((lines) => lines.toReversed());
    return newestFirst.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at)).map(toRecord);
  } finally {
    done();
  }
}

const toRecord = ({ at, level, text, source }: LogLine): LogRecord => ({
  time: new Date(at).toISOString(),
  level: level === "warning" ? "warn" : level,
  msg: text,
  fields: source === undefined ? {} : { source },
});

async function noDeviceLog(device: OpenDevice, devices: Devices, context: CallContext): Promise<ToolError> {
  const looked = await Promise.all(devices.list().map(({ id }) => devices.peek({ device_id: id }, context)));
  const logging = looked.flatMap(({ entry, opened }) =>
    opened && controllersWith(opened, "logs").length > 0 ? [entry.id] : [],
  );
  return new ToolError(
    "CONTROLLER_UNAVAILABLE",
    [`${device.id} keeps no log: none of its controllers reads one.`, ...reasonsOf(device)].join(" "),
    logging.length > 0
      ? `Of the open devices, these keep one: ${logging.join(", ")}. Leave service out for our daemon's log.`
      : "No open device keeps a log. Leave service out for our daemon's log.",
    { device_id: device.id, devices: logging },
  );
}
