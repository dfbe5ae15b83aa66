import { deviceOf, type PlanStep } from "../../../domain/index.ts";
import { checksOf, commandsOf } from "../../devices/findCommand.ts";
import type { CallContext, DeviceRef, DeviceService } from "../../ports.ts";
import { invalid, type Offers } from "./steps.ts";

/** A device that a plan drives, as the caller gave it. */
export type Place = { id: string; ref: DeviceRef; offers: Offers };

type Devices = Pick<DeviceService, "offering">;
/** `device_ids`: with `device_id` the only devices that the plan may drive; any when neither is given. */
type Where = DeviceRef & { device_ids?: readonly string[] | undefined };

/** The device of each step. Throws INVALID_PLAN for one that the caller did not give. */
export async function placesOf(
  devices: Devices,
  steps: readonly PlanStep[],
  { device_id, device_ids = [], session_id }: Where,
  call: CallContext,
): Promise<(step: PlanStep) => Place> {
  const find = async (ref: DeviceRef): Promise<Place> => {
    const device = await devices.offering(ref, call);
    return { id: device.id, ref, offers: offersOf(device) };
  };
  const own = { device_id: device_id ?? device_ids[0], session_id };
  const isGiven = own.device_id !== undefined || session_id !== undefined;
  const places = new Map<string | undefined, Place>();
  if (isGiven || steps.some((step) => deviceOf(step) === undefined)) places.set(undefined, await find(own));
  const others = await Promise.all(device_ids.map((id) => find({ device_id: id })));
  const given = [...places.values(), ...others];
  const problems: string[] = [];
  for (const step of steps) {
    const name = deviceOf(step);
    const found = places.get(name) ?? (await find({ device_id: name }));
    const known = given.find(({ id }) => id === found.id);
    if (isGiven && !known) problems.push(foreignIn(step, given));
    places.set(name, known ?? found);
  }
  if (problems.length > 0) throw invalid(problems);
  return (step) => getPlace(places, step);
}

function foreignIn(step: PlanStep, given: readonly Place[]): string {
  const devices = [...new Set(given.map(({ id }) => id))].join(", ");
  return `step ${step.index} drives ${deviceOf(step)}, which is not a device of this plan (${devices})`;
}

function getPlace(places: ReadonlyMap<string | undefined, Place>, step: PlanStep): Place {
  const place = places.get(deviceOf(step));
  if (place) return place;
  throw new Error(`Step ${step.index} has no device.`);
}

export function offersOf(device: Awaited<ReturnType<DeviceService["offering"]>>): Offers {
  const commands = new Map<string, { type: string; params: ReadonlySet<string> }>();
  for (const { source, command } of commandsOf(device).toReversed())
    commands.set(command.name, { type: source.kind, params: new Set(Object.keys(command.input.shape)) });
  const checks = new Map<string, { type: string }>();
  for (const { source, check } of checksOf(device).toReversed())
    checks.set(check.name, { type: source.verification ?? source.kind });
  return { commands, checks };
}
