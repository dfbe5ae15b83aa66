import { FileError } from "../../labShell.ts";
import type { CommandContext } from "../system.ts";

/** Writes a text and ends well. */
export async function print({ out }: CommandContext, text: string | Uint8Array): Promise<number> {
  await out(text);
  return 0;
}

/** Writes what went wrong and ends with a code of failure. */
export async function fail({ err }: CommandContext, text: string, code = 1): Promise<number> {
  await err(`${text}\n`);
  return code;
}

/** Does something with files for each path, and says of each that failed why. */
export async function forEachPath(
  program: string,
  paths: readonly string[],
  context: CommandContext,
  work: (path: string) => Promise<void> | void,
): Promise<number> {
  let code = 0;
  for (const path of paths) {
    try {
      await work(path);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      code = await fail(context, `${program}: ${path}: ${error.message}`);
    }
  }
  return code;
}

/** Options that begin with a dash, those that have a value with it, and the rest in their order. */
export function readOptions(
  args: readonly string[],
  withValue: readonly string[] = [],
): { options: ReadonlyMap<string, string>; rest: string[] } {
  const options = new Map<string, string>();
  const rest: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (withValue.includes(arg)) options.set(arg, args[++index] ?? "");
    else if (/^-./.test(arg) && !/^-\d/.test(arg)) options.set(arg, "");
    else rest.push(arg);
  }
  return { options, rest };
}
