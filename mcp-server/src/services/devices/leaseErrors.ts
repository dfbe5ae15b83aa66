import { ToolError } from "../../errors.ts";
import type { Lease } from "../ports.ts";

export function heldError(holder: Lease, free: readonly string[]): ToolError {
  const { device_id, client, principal, expires_at } = holder;
  const instead = free.length > 0 ? `Free devices: ${free.join(", ")}. ` : "";
  return new ToolError(
    "DEVICE_HELD",
    `${device_id} is held by ${client} (${principal}) until ${expires_at}.`,
    `${instead}If the lease is yours, pass its session_id. Otherwise wait for it, or call take_control with force: true, which tells the holder.`,
    { device_id, holder: client, until: expires_at, free },
  );
}

export const takenError = (device: string, takenBy: string, at: string) =>
  new ToolError(
    "LEASE_LOST",
    `${device} was taken by ${takenBy} with force at ${at}.`,
    "Wait until they are done, then call take_control again.",
  );

export const expiredError = ({ device_id, expires_at }: Lease) =>
  new ToolError(
    "LEASE_EXPIRED",
    `The lease of ${device_id} ended at ${expires_at}.`,
    "Call take_control again; it is granted if the device is still free.",
    { device_id },
  );

export const unknownHandle = (sessionId: string) =>
  new ToolError(
    "LEASE_NOT_FOUND",
    `No lease has the handle ${sessionId}.`,
    "It was released or never given: call take_control for a new session_id.",
  );

/** Why a run ends whose lease was given back; such a run counts as cancelled. */
export const givenBack = ({ device_id, client }: Lease) =>
  new ToolError(
    "CANCELLED",
    `${client} gave ${device_id} back while this ran.`,
    "Keep the lease until the run has ended, then run it again.",
  );

/** Why a run ends whose client is gone. */
export const clientEnded = ({ device_id, client }: Lease) =>
  new ToolError(
    "CANCELLED",
    `${client} ended, and its lease of ${device_id} with it.`,
    "Run it again; a run of its own schedule is a deployment.",
  );
