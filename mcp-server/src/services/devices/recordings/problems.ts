import type { RecordingKind } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { OpenDevice } from "../../ports.ts";
import { reasonsOf } from "../portOf.ts";

export function noRecorder(device: OpenDevice): ToolError {
  return new ToolError(
    "CONTROLLER_UNAVAILABLE",
    [`${device.id} cannot be recorded: none of its controllers can.`, ...reasonsOf(device)].join(" "),
    "Take pictures with capture_screenshot, or record another device of list_hosts.",
    { device_id: device.id },
  );
}

export function nothingToRecord(kinds: readonly RecordingKind[]): ToolError {
  return new ToolError(
    "INVALID_INPUT",
    "There is nothing to record.",
    `Leave ${kinds.join(" or ")} at true; this device can record ${kinds.join(" and ")}.`,
  );
}

export function recordedAlready(device: OpenDevice, recordingId: string): ToolError {
  return new ToolError(
    "ALREADY_EXISTS",
    `${device.id} is being recorded: ${recordingId}.`,
    "Stop that recording with stop_recording first.",
    { recording_id: recordingId },
  );
}

export const tookTooLong = (what: string, ms: number) =>
  new ToolError(
    "CONTROLLER_UNAVAILABLE",
    `The recorder did not ${what} within ${ms / 1_000} s.`,
    "It is free again: look at the device with capture_screenshot, then record anew.",
  );

export function recordingNotFound(
  recordingId: string,
  open: readonly { recording_id: string; device_id: string }[],
  near: readonly string[],
): ToolError {
  const named = open.map(({ recording_id, device_id }) => `${recording_id} of ${device_id}`).join(", ");
  return new ToolError(
    "RECORDING_NOT_FOUND",
    `There is no recording "${recordingId}".`,
    near.length > 0
      ? `Did you mean ${near.join(", ")}? Recording now: ${named || "none"}.`
      : `Recording now: ${named || "none"}. Ended ones are forgotten when the server restarts: their files are in the event recording.finished.`,
    { nearest: near, open },
  );
}
