import { AsyncLocalStorage } from "node:async_hooks";
import { DeviceError, type Dispatched } from "./errors.ts";

const recording = new AsyncLocalStorage<DispatchRecord>();

/** Follows the inputs of one command, also those of commands that it runs itself. */
export class DispatchRecord {
  dispatched: Dispatched = "no";

  run<T>(command: () => Promise<T>): Promise<T> {
    return recording.run(this, command);
  }
}

/**
 * Sends something that changes the device; drivers send every input and setting through it. Where `send` fails, `judge`
 * returns whether it was sent; by default that is unknown unless the error itself says so.
 */
export async function sendInput<T>(send: () => Promise<T>, judge = dispatchedBy): Promise<T> {
  const record = recording.getStore();
  if (!record) return send();
  const before = record.dispatched;
  if (before === "no") record.dispatched = "unknown";
  try {
    const result = await send();
    record.dispatched = "yes";
    return result;
  } catch (error) {
    const sent = judge(error);
    // An input within this one may have been sent already.
    if (record.dispatched === "unknown") record.dispatched = sent === "no" ? before : sent;
    throw error;
  }
}

/** Records an input that a driver knows to be done. */
export function inputSent(): void {
  const record = recording.getStore();
  if (record) record.dispatched = "yes";
}

const dispatchedBy = (error: unknown): Dispatched =>
  error instanceof DeviceError ? (error.dispatched ?? "unknown") : "unknown";

/** The failure, with the knowledge that nothing was sent. */
export function unsent<T>(failure: T): T {
  if (failure instanceof DeviceError) failure.dispatched = "no";
  return failure;
}

/**
 * A command's text holds a secret. `allow` throws SECRET_NOT_ALLOWED for a place that it may not go to: a site, or the frame of a
 * field. `isBound`: some places are not allowed.
 */
export type SecretInput = {
  isBound: boolean;
  allow(place: { origin: string; isPassword?: boolean }): void;
};

const secretsInUse = new AsyncLocalStorage<SecretInput>();

/** Runs a command whose input holds a secret. Drivers that type ask {@link secretInput} at the moment of typing. */
export const withSecretInput = <T>(input: SecretInput, command: () => Promise<T>): Promise<T> =>
  secretsInUse.run(input, command);

/** Undefined if the command's input holds no secret. */
export const secretInput = (): SecretInput | undefined => secretsInUse.getStore();
