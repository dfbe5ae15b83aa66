import type { Command } from "../system.ts";
import { forEachPath, print, readOptions } from "./reply.ts";

/** Programs that read and change files. */
export const fileCommands: Readonly<Record<string, Command>> = {
  cat: async (args, context) => {
    if (args.length > 0) {
      return forEachPath("cat", args, context, (path) => context.out(context.system.files.read(path)));
    }
    for await (const part of context.stdin) await context.out(part);
    return 0;
  },
  ls: ([path = "/"], context) => {
    const names = context.system.files.list(path) ?? [];
    return print(context, names.map((name) => `${name}\n`).join(""));
  },
  rm: (args, context) => {
    const { options, rest } = readOptions(args);
    const isForced = [...options.keys()].some((option) => option.includes("f"));
    const { files } = context.system;
    const paths = isForced ? rest.filter((path) => files.stat(path)) : rest;
    return forEachPath("rm", paths, context, (path) => files.remove(path));
  },
  mkdir: (args, context) =>
    forEachPath("mkdir", readOptions(args).rest, context, (path) => context.system.files.makeFolder(path)),
};
