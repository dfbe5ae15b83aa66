import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { findOwnDevice } from "../folder/journal.ts";
import { type Answer, done, type RunConnection, type RunTerminal, unending } from "./connection.ts";

export type SlotOptions = {
  device?: string | undefined;
  /** Shows the windows of browsers, each a copy that is made for the run. */
  headed?: boolean | undefined;
  /** A browser, by a name that a copy takes. Each slot is then a copy that is made for the run. */
  browser?: string | undefined;
  /** Seconds to wait for a device that another client holds; not at all when left out. */
  waitDevice?: number | undefined;
};

export type Slots = {
  all: readonly Slot[];
  /** Gives the devices back; copies are closed. */
  leave(): Promise<void>;
};

export const hostsSchema = z.looseObject({
  hosts: z.array(
    z.looseObject({
      devices: z.array(
        z.looseObject({
          id: z.string(),
          model: z.string(),
          state: z.string(),
          discovered: z.boolean().default(false),
        }),
      ),
    }),
  ),
});

/** Far below the time after which an unused lease ends. */
const renewMs = 60_000;
const askAgainMs = 500;

/**
 * Takes a device for each worker, before the first test: copies of a browser, of other devices those that are free and of the
 * same model. Reports the reason if fewer than `wanted` are available. Throws DEVICE_HELD with the holder, and why a device does not open.
 */
export async function takeSlots(
  wanted: number,
  options: SlotOptions,
  connection: RunConnection,
  terminal: Pick<RunTerminal, "err" | "signal" | "cwd">,
): Promise<Slots> {
  const { signal, err } = terminal;
  const take = (args: Record<string, unknown>) => readSlot(connection.call("take_control", args, signal));
  const named = options.device === undefined ? {} : { device_id: options.device };
  const slots: Slot[] = [];
  const leave = async () => {
    const release = ({ session_id }: Slot) => connection.call("release_control", { session_id }, unending());
    await Promise.allSettled(slots.filter(({ isFolders }) => !isFolders).map(release));
  };
  try {
    const { headed = false, browser } = options;
    if (!headed && browser === undefined)
      slots.push(await takeWhenFree(() => takeSlot(named, connection, terminal), options, terminal));
    if (slots[0]?.isFolders)
      err(`${deviceName(slots[0].device)} is held by this folder, and is used in its current state\n`);
    const base = slots[0]?.device ?? (await findDevice(named, connection, signal));
    const copy = { headed, ...(browser !== undefined && { browser }) };
    const why = await takeMore(slots, wanted, () => take({ device_id: base, copy }));
    if (slots[0] && isUncopied(why)) await takeOthers(slots, wanted, { take, connection, signal });
    else if (why && slots.length === 0) throw why;
    if (wanted > 1) err(`${workersLine(slots, wanted, why)}\n`);
  } catch (error) {
    await leave();
    throw error;
  }
  return { all: slots, leave: renewed(slots, connection, leave) };
}

/** Until there are enough. Returns why there are fewer. */
async function takeMore(
  slots: Slot[],
  wanted: number,
  take: () => Promise<Slot>,
): Promise<ToolError | undefined> {
  while (slots.length < wanted) {
    try {
      slots.push(await take());
    } catch (error) {
      const isEnd =
        error instanceof ToolError && ["INSUFFICIENT_RESOURCES", "DEVICE_NOT_COPIED"].includes(error.code);
      if (isEnd) return error;
      throw error;
    }
  }
  return undefined;
}

const isUncopied = (why: ToolError | undefined) => why?.code === "DEVICE_NOT_COPIED";

/** A discovered device replaces only another discovered device. */
async function takeOthers(
  slots: Slot[],
  wanted: number,
  {
    take,
    connection,
    signal,
  }: {
    take(args: Record<string, unknown>): Promise<Slot>;
    connection: RunConnection;
    signal: AbortSignal;
  },
): Promise<void> {
  const { hosts } = hostsSchema.parse(await done(connection.call("list_hosts", {}, signal)));
  const devices = hosts.flatMap((host) => host.devices);
  const first = devices.find(({ id }) => id === slots[0]?.device);
  const others = devices.filter(
    ({ id, model, state, discovered }) =>
      model === first?.model &&
      discovered === first.discovered &&
      id !== first.id &&
      !state.startsWith("held"),
  );
  for (const { id } of others) {
    if (slots.length === wanted) return;
    // Another client may have been faster.
    const slot = await takeUnlessHeld(() => take({ device_id: id }));
    if ("device" in slot) slots.push(slot);
  }
}

function workersLine(slots: readonly Slot[], wanted: number, why: ToolError | undefined): string {
  const names = slots.map(({ device }) => deviceName(device)).join(", ");
  if (slots.length === wanted) return `${wanted} workers: ${names}`;
  const model = `no further device of the model ${slots[0]?.model} is free.`;
  return `${slots.length} of ${wanted} workers: ${names}; ${isUncopied(why) ? model : why?.message}`;
}

export const deviceName = (id: string) => id.slice(id.lastIndexOf("/") + 1);

async function takeWhenFree(
  take: () => Promise<Slot>,
  { waitDevice: seconds }: SlotOptions,
  { err, signal }: Pick<RunTerminal, "err" | "signal">,
): Promise<Slot> {
  const first = await takeUnlessHeld(take);
  if ("device" in first) return first;
  if (seconds === undefined) throw stillHeld(first, "Wait for it with --wait-device 60");
  err(`${first.message} Waiting up to ${seconds} s for it.\n`);
  const until = performance.now() + seconds * 1_000;
  for (let held = first; ; ) {
    const left = until - performance.now();
    if (left <= 0) throw stillHeld(held, `It was not released within ${seconds} s. Wait longer`);
    await pause(Math.min(askAgainMs, left), undefined, { signal });
    const next = await takeUnlessHeld(take);
    if ("device" in next) return next;
    held = next;
  }
}

/** The slot, or the error that says who holds the device. */
const takeUnlessHeld = (take: () => Promise<Slot>): Promise<Slot | ToolError> =>
  take().catch((error: unknown) => {
    if (error instanceof ToolError && error.code === "DEVICE_HELD") return error;
    throw error;
  });

const stillHeld = ({ message }: ToolError, hint: string) =>
  new ToolError("DEVICE_HELD", message, `${hint}, or name another device with --device.`);

/** The id of the device that a call without a handle means. */
export async function findDevice(
  named: Record<string, unknown>,
  connection: RunConnection,
  signal: AbortSignal,
): Promise<string> {
  const info = await done(connection.call("get_device_info", named, signal));
  return z.looseObject({ id: z.string() }).parse(info).id;
}

/** Renews the leases, since a worker may not use its device for longer than its lease lasts. Returns `leave`, which stops that. */
function renewed(slots: readonly Slot[], connection: RunConnection, leave: () => Promise<void>) {
  const renew = ({ session_id }: Slot) => connection.call("get_device_info", { session_id }, unending());
  const timer = setInterval(() => void Promise.allSettled(slots.map(renew)), renewMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    return leave();
  };
}

/** A device and the handle of its lease. `isFolders`: the lease is that of the working folder and outlives this use. */
export type Slot = { device: string; model: string; session_id: string; isFolders?: true };

type Named = { device_id?: string };
type Place = Pick<RunTerminal, "cwd" | "signal">;

const takenSchema = z.looseObject({ device: z.string(), model: z.string(), session_id: z.string() });
const infoSchema = z.looseObject({ id: z.string(), model: z.string() });

export const readSlot = async (answer: Promise<Answer>): Promise<Slot> =>
  takenSchema.parse(await done(answer));

/**
 * Takes the device that is named, else the working folder's own if it can be had, else one that is free. One that the folder
 * holds is used under the folder's lease. Throws DEVICE_HELD with the holder, DEVICE_AMBIGUOUS, and why a device does not open.
 */
export async function takeSlot(named: Named, connection: RunConnection, place: Place): Promise<Slot> {
  const own = findOwnDevice(place.cwd);
  const take = (one: Named) => takeOrShare(one, own?.session, connection, place);
  if (own === undefined || named.device_id !== undefined) return take(named);
  return take({ device_id: own.device }).catch((error: unknown) => {
    const isGone = error instanceof ToolError && ["DEVICE_HELD", "DEVICE_NOT_FOUND"].includes(error.code);
    if (isGone) return take(named);
    throw error;
  });
}

async function takeOrShare(
  named: Named,
  ownSession: string | undefined,
  connection: RunConnection,
  place: Place,
): Promise<Slot> {
  try {
    return await readSlot(connection.call("take_control", named, place.signal));
  } catch (error) {
    const isHeld = error instanceof ToolError && error.code === "DEVICE_HELD";
    const slot =
      isHeld && ownSession !== undefined ? await slotOf(ownSession, named, connection, place) : undefined;
    if (slot) return slot;
    throw error;
  }
}

/** Undefined where the lease has ended or is of another device than the one that is named. */
async function slotOf(
  session_id: string,
  named: Named,
  connection: RunConnection,
  { signal }: Place,
): Promise<Slot | undefined> {
  const answer = await connection.call("get_device_info", { ...named, session_id }, signal);
  if (!answer.ok) return undefined;
  const { id, model } = infoSchema.parse(answer.structured);
  return { device: id, model, session_id, isFolders: true };
}
