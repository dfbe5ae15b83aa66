import { DeviceError } from "../../errors.ts";

/** What the shell of a device reads as it stands. */
const plain = /^[\w@%+=:,./-]+$/;

/** A command line for a device's shell; arguments arrive unexpanded. Throws INVALID_PARAMS for a null character. */
export const commandLine = (args: readonly string[]): string => args.map(quoteForShell).join(" ");

function quoteForShell(argument: string): string {
  if (argument.includes("\0")) {
    throw new DeviceError(
      "INVALID_PARAMS",
      "A text with a null character cannot be sent to an Android device. Remove it.",
    );
  }
  return plain.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}
