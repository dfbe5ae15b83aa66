import type { Command, CommandContext } from "../system.ts";
import { fail, print } from "./reply.ts";

const mediaFolders = /^\/sdcard\/(?:DCIM|Pictures|Movies|Music|Download)\//;
const denied =
  "Error while accessing provider\njava.lang.SecurityException: Permission Denial: com.android.shell has no access";

/** The media store may be scanned and asked for a file; nothing else of other apps may be read or changed. */
export const content: Command = (args, context) => {
  const { system } = context;
  const uri = optionOf(args, "--uri");
  if (args[0] === "call" && uri === "content://media" && optionOf(args, "--method") === "scan_volume") {
    scanMedia(system);
    return print(context, "Result: null\n");
  }
  if (args[0] === "query" && uri === "content://media/external/file") {
    const wanted = /^_data='(.*)'$/s.exec(optionOf(args, "--where"))?.[1]?.replaceAll("''", "'");
    const found = wanted !== undefined && system.media.includes(wanted);
    return print(context, found ? `Row: 0 _data=${wanted}\n` : "No result found.\n");
  }
  return fail(context, denied);
};

/** The store names files by the folder of the first user. */
export function scanMedia(system: CommandContext["system"]): void {
  system.media = system.files
    .matching(mediaFolders)
    .map((path) => path.replace(/^\/sdcard/, "/storage/emulated/0"));
}

const optionOf = (args: readonly string[], option: string): string =>
  args.includes(option) ? (args[args.indexOf(option) + 1] ?? "") : "";
