import { createHash } from "node:crypto";
import type { FileStat } from "../../labShell.ts";
import type { Command, CommandContext } from "../system.ts";
import { forEachPath, readOptions } from "./reply.ts";

/** Programs that read and change files. */
export const fileCommands: Readonly<Record<string, Command>> = {
  cat: async (args, context) => {
    if (args.length > 0) {
      return forEachPath("cat", args, context, (path) => context.out(context.system.files.read(path)));
    }
    for await (const part of context.stdin) await context.out(part);
    return 0;
  },
  ls: listFiles,
  rm: (args, context) => {
    const { options, rest } = readOptions(args);
    const isForced = [...options.keys()].some((option) => option.includes("f"));
    const { files } = context.system;
    const paths = isForced ? rest.filter((path) => files.stat(path)) : rest;
    return forEachPath("rm", paths, context, (path) => files.remove(path));
  },
  mkdir: (args, context) =>
    forEachPath("mkdir", readOptions(args).rest, context, (path) => context.system.files.makeFolder(path)),
  rmdir: (args, context) => forEachPath("rmdir", args, context, (path) => context.system.files.remove(path)),
  touch: (args, context) =>
    forEachPath("touch", readOptions(args).rest, context, (path) =>
      context.system.files.store(path, new Uint8Array(), true),
    ),
  chmod: ([, ...paths], context) =>
    forEachPath("chmod", paths, context, (path) => void context.system.files.read(path)),
  cp: (args, context) => copy("cp", args, context),
  mv: async (args, context) => {
    const code = await copy("mv", args, context);
    const from = readOptions(args).rest.slice(0, -1);
    return code || forEachPath("mv", from, context, (path) => context.system.files.remove(path));
  },
  stat: (args, context) => {
    const { options, rest } = readOptions(args, ["-c"]);
    return forEachPath("stat", rest, context, async (path) => {
      const stat = context.system.files.stat(path);
      if (!stat) return void context.system.files.read(path);
      await context.out(`${statText(options.get("-c") ?? "%n %s %a %Y", path, stat)}\n`);
    });
  },
  md5sum: (args, context) => checksum("md5", args, context),
  sha1sum: (args, context) => checksum("sha1", args, context),
  sha256sum: (args, context) => checksum("sha256", args, context),
};

async function listFiles(args: readonly string[], context: CommandContext): Promise<number> {
  const { options, rest } = readOptions(args);
  const { files } = context.system;
  const letters = [...options.keys()].join("");
  const line = (name: string, stat: FileStat) =>
    letters.includes("l")
      ? `${modeText(stat.mode)} 1 shell shell ${stat.size} ${timeText(stat.mtime)} ${name}`
      : name;
  return forEachPath("ls", rest.length > 0 ? rest : ["/"], context, async (path) => {
    const stat = files.stat(path);
    const names = letters.includes("d") ? undefined : files.list(path);
    if (!stat) return void files.read(path);
    const folder = path.replace(/\/?$/, "/");
    const lines = names?.map((name) => line(name, files.stat(folder + name) ?? stat)) ?? [line(path, stat)];
    if (lines.length > 0) await context.out(`${lines.join("\n")}\n`);
  });
}

function modeText(mode: number): string {
  const rights = [...mode.toString(2).padStart(9, "0").slice(-9)];
  const letters = rights.map((bit, index) => (bit === "1" ? "rwx".charAt(index % 3) : "-")).join("");
  return ((mode & 0o170_000) === 0o40_000 ? "d" : "-") + letters;
}

const timeText = (mtime: number) => new Date(mtime * 1_000).toISOString().slice(0, 16).replace("T", " ");

function statText(format: string, path: string, { size, mode, mtime }: FileStat): string {
  const values: Readonly<Record<string, string>> = {
    n: path,
    s: String(size),
    a: (mode & 0o777).toString(8),
    Y: String(mtime),
    F: (mode & 0o170_000) === 0o40_000 ? "directory" : "regular file",
  };
  return format.replace(/%([a-zA-Z])/g, (found, letter: string) => values[letter] ?? found);
}

async function copy(program: string, args: readonly string[], context: CommandContext): Promise<number> {
  const { rest } = readOptions(args);
  const { files } = context.system;
  const target = rest.at(-1) ?? "";
  return forEachPath(program, rest.slice(0, -1), context, (path) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    files.store(files.isFolder(target) ? `${target}/${name}` : target, files.read(path));
  });
}

async function checksum(kind: string, paths: readonly string[], context: CommandContext): Promise<number> {
  return forEachPath(`${kind}sum`, paths, context, async (path) => {
    const sum = createHash(kind).update(context.system.files.read(path)).digest("hex");
    await context.out(`${sum}  ${path}\n`);
  });
}
