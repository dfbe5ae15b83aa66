import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { findOwnDevice } from "../folder/ownDevice.ts";
import { type Answer, done, type RunConnection, type RunTerminal } from "./connection.ts";

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
