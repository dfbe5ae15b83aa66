import { DeviceError } from "../errors.ts";
import { findProgram, startProgram } from "../programs/run.ts";
import { byLine, Exchange, overStreams } from "./exchange.ts";
import { offline, type Place } from "./failures.ts";

/** A program that is driven by its console. `install` is a command for a person. */
export type ConsoleProgram = { program: string; install: string };

/** Throws DEVICE_ERROR with the command that installs it. */
export function needProgram({ program, install }: ConsoleProgram): void {
  if (findProgram(program) === undefined)
    throw new DeviceError("DEVICE_ERROR", `There is no program ${program} on the PATH. Run: ${install}`);
}

/** Starts a program and talks with it line by line; what it complains of comes among its answers. It ends with the exchange. */
export function openConsole(
  program: string,
  args: readonly string[],
  place: Place,
  env: NodeJS.ProcessEnv = process.env,
): Exchange {
  // One stream for both, so that a complaint comes before the answer that it belongs to.
  const started = startProgram("sh", ["-c", 'exec "$0" "$@" 2>&1', program, ...args], { env });
  const { stdout, stdin } = started.child;
  if (!stdout || !stdin) throw offline(place, `${program} has no console`);
  return new Exchange(
    overStreams(stdout, stdin, byLine, () => started.end(500)),
    place,
  );
}
