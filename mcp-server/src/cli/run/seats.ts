import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { findOwnDevice } from "../folder/journal.ts";
import { type Answer, done, type RunConnection, type RunTerminal, unending } from "./connection.ts";

export type SeatOptions = {
  device?: string | undefined;
  /** Shows the windows of browsers, each a copy that is made for the run. */
  headed?: boolean | undefined;
  /** Seconds to wait for a device that somebody else holds; not at all when left out. */
  waitDevice?: number | undefined;
};

export type Seats = {
  all: readonly Seat[];
  /** Gives the devices back; copies are closed. */
  leave(): Promise<void>;
};

const hostsSchema = z.looseObject({
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

/** Far below the time after which a lease that nobody uses ends. */
const renewMs = 60_000;
const askAgainMs = 500;

/**
 * Takes a device for each worker, before the first test: copies of a browser, of other devices those that are free and of the
 * same model. Reports the reason if fewer than `wanted` are available. Throws DEVICE_HELD with the holder, and why a device does not open.
 */
export async function takeSeats(
  wanted: number,
  options: SeatOptions,
  connection: RunConnection,
  terminal: Pick<RunTerminal, "err" | "signal" | "cwd">,
): Promise<Seats> {
  const { signal, err } = terminal;
  const take = (args: Record<string, unknown>) => readSeat(connection.call("take_control", args, signal));
  const named = options.device === undefined ? {} : { device_id: options.device };
  const seats: Seat[] = [];
  const leave = async () => {
    const release = ({ session_id }: Seat) => connection.call("release_control", { session_id }, unending());
    await Promise.allSettled(seats.filter(({ isFolders }) => !isFolders).map(release));
  };
  try {
    if (!options.headed)
      seats.push(await takeWhenFree(() => takeSeat(named, connection, terminal), options, terminal));
    if (seats[0]?.isFolders)
      err(`${deviceName(seats[0].device)} is held by this folder, and is used as it is\n`);
    const base = seats[0]?.device ?? (await findDevice(named, connection, signal));
    const copy = { headed: options.headed === true };
    const why = await takeMore(seats, wanted, () => take({ device_id: base, copy }));
    if (seats[0] && isUncopied(why)) await takeOthers(seats, wanted, { take, connection, signal });
    else if (why && seats.length === 0) throw why;
    if (wanted > 1) err(`${workersLine(seats, wanted, why)}\n`);
  } catch (error) {
    await leave();
    throw error;
  }
  return { all: seats, leave: renewed(seats, connection, leave) };
}

/** Until there are enough. Returns why there are fewer. */
async function takeMore(
  seats: Seat[],
  wanted: number,
  take: () => Promise<Seat>,
): Promise<ToolError | undefined> {
  while (seats.length < wanted) {
    try {
      seats.push(await take());
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

/** What is discovered stands in for another only where that one is discovered too. */
async function takeOthers(
  seats: Seat[],
  wanted: number,
  {
    take,
    connection,
    signal,
  }: {
    take(args: Record<string, unknown>): Promise<Seat>;
    connection: RunConnection;
    signal: AbortSignal;
  },
): Promise<void> {
  const { hosts } = hostsSchema.parse(await done(connection.call("list_hosts", {}, signal)));
  const devices = hosts.flatMap((host) => host.devices);
  const first = devices.find(({ id }) => id === seats[0]?.device);
  const others = devices.filter(
    ({ id, model, state, discovered }) =>
      model === first?.model &&
      discovered === first.discovered &&
      id !== first.id &&
      !state.startsWith("held"),
  );
  for (const { id } of others) {
    if (seats.length === wanted) return;
    // Somebody may have been faster.
    const seat = await takeUnlessHeld(() => take({ device_id: id }));
    if ("device" in seat) seats.push(seat);
  }
}

function workersLine(seats: readonly Seat[], wanted: number, why: ToolError | undefined): string {
  const names = seats.map(({ device }) => deviceName(device)).join(", ");
  if (seats.length === wanted) return `${wanted} workers: ${names}`;
  const model = `no further device of the model ${seats[0]?.model} is free.`;
  return `${seats.length} of ${wanted} workers: ${names}; ${isUncopied(why) ? model : why?.message}`;
}

export const deviceName = (id: string) => id.slice(id.lastIndexOf("/") + 1);

async function takeWhenFree(
  take: () => Promise<Seat>,
  { waitDevice: seconds }: SeatOptions,
  { err, signal }: Pick<RunTerminal, "err" | "signal">,
): Promise<Seat> {
  const first = await takeUnlessHeld(take);
  if ("device" in first) return first;
  if (seconds === undefined) throw stillHeld(first, "Wait for it with --wait-device 60");
  err(`${first.message} Waiting up to ${seconds} s for it.\n`);
  const until = performance.now() + seconds * 1_000;
  for (let held = first; ; ) {
    const left = until - performance.now();
    if (left <= 0) throw stillHeld(held, `It was not given back within ${seconds} s. Wait longer`);
    await pause(Math.min(askAgainMs, left), undefined, { signal });
    const next = await takeUnlessHeld(take);
    if ("device" in next) return next;
    held = next;
  }
}

/** The seat, or the error that says who holds the device. */
const takeUnlessHeld = (take: () => Promise<Seat>): Promise<Seat | ToolError> =>
  take().catch((error: unknown) => {
    if (error instanceof ToolError && error.code === "DEVICE_HELD") return error;
    throw error;
  });

const stillHeld = ({ message }: ToolError, hint: string) =>
  new ToolError("DEVICE_HELD", message, `${hint}, or name another device with --device.`);

/** The id of the device that a call without a handle means. */
async function findDevice(
  named: Record<string, unknown>,
  connection: RunConnection,
  signal: AbortSignal,
): Promise<string> {
  const info = await done(connection.call("get_device_info", named, signal));
  return z.looseObject({ id: z.string() }).parse(info).id;
}

/** A worker may have nothing to do with its device for longer than its lease lasts. Returns `leave`, which ends that. */
function renewed(seats: readonly Seat[], connection: RunConnection, leave: () => Promise<void>) {
  const renew = ({ session_id }: Seat) => connection.call("get_device_info", { session_id }, unending());
  const timer = setInterval(() => void Promise.allSettled(seats.map(renew)), renewMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    return leave();
  };
}

/** A device and the handle of its lease. `isFolders`: the lease is that of the working folder and outlives this use. */
export type Seat = { device: string; model: string; session_id: string; isFolders?: true };

type Named = { device_id?: string };
type Place = Pick<RunTerminal, "cwd" | "signal">;

const takenSchema = z.looseObject({ device: z.string(), model: z.string(), session_id: z.string() });
const infoSchema = z.looseObject({ id: z.string(), model: z.string() });

export const readSeat = async (answer: Promise<Answer>): Promise<Seat> =>
  takenSchema.parse(await done(answer));

/**
 * Takes the device that is named, else the working folder's own if it can be had, else one that is free. One that the folder
 * holds is used under the folder's lease. Throws DEVICE_HELD with the holder, DEVICE_AMBIGUOUS, and why a device does not open.
 */
export async function takeSeat(named: Named, connection: RunConnection, place: Place): Promise<Seat> {
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
): Promise<Seat> {
  try {
    return await readSeat(connection.call("take_control", named, place.signal));
  } catch (error) {
    const isHeld = error instanceof ToolError && error.code === "DEVICE_HELD";
    const seat =
      isHeld && ownSession !== undefined ? await seatOf(ownSession, named, connection, place) : undefined;
    if (seat) return seat;
    throw error;
  }
}

/** Undefined where the lease has ended or is of another device than the one that is named. */
async function seatOf(
  session_id: string,
  named: Named,
  connection: RunConnection,
  { signal }: Place,
): Promise<Seat | undefined> {
  const answer = await connection.call("get_device_info", { ...named, session_id }, signal);
  if (!answer.ok) return undefined;
  const { id, model } = infoSchema.parse(answer.structured);
  return { device: id, model, session_id, isFolders: true };
}
