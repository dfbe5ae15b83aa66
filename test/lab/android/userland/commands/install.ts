import { FileError } from "../../labShell.ts";
import { readApk } from "../apk.ts";
import type { CommandContext } from "../system.ts";
import { print, readOptions } from "./reply.ts";

type Action = (args: readonly string[], context: CommandContext) => number | Promise<number>;

const valued = ["-S", "-i", "-p", "--user", "--abi", "--install-location", "--originating-uri", "--pkg"];
let nextSession = 1_000_000;

export const installActions: Readonly<Record<string, Action>> = {
  install: async (args, context) => {
    const { options, rest } = readOptions(args, valued);
    const data = await packageData(options.get("-S"), rest[0], context);
    return data instanceof Uint8Array ? install([data], options.has("-g"), context) : failed(context, data);
  },
  "install-create": (args, context) => {
    const id = String(nextSession++);
    context.system.installSessions.set(id, { parts: [], grantsAll: args.includes("-g") });
    return print(context, `Success: created install session [${id}]\n`);
  },
  "install-write": async (args, context) => {
    const { options, rest } = readOptions(args, valued);
    const [id = "", , path] = rest;
    const session = context.system.installSessions.get(id);
    const data = await packageData(options.get("-S"), path === "-" ? undefined : path, context);
    if (!session || !(data instanceof Uint8Array)) return failed(context, "Error: no such session");
    session.parts.push(data);
    return print(context, `Success: streamed ${data.length} bytes\n`);
  },
  "install-commit": ([id = ""], context) => {
    const { installSessions } = context.system;
    const session = installSessions.get(id);
    installSessions.delete(id);
    return session
      ? install(session.parts, session.grantsAll, context)
      : failed(context, "Error: no such session");
  },
  "install-abandon": ([id = ""], context) =>
    context.system.installSessions.delete(id)
      ? print(context, "Success\n")
      : failed(context, "Error: no such session"),
  uninstall: (args, context) => {
    const name = readOptions(args, valued).rest[0] ?? "";
    const { packages } = context.system;
    const found = packages.find(name);
    if (!found || found.isSystem) return failed(context, "Failure [DELETE_FAILED_INTERNAL_ERROR]");
    packages.remove(name);
    return print(context, "Success\n");
  },
};

async function failed({ out }: CommandContext, text: string): Promise<number> {
  await out(`${text}\n`);
  return 1;
}

/** The bytes of a file on the device, or so many of those that come; a text says what is wrong. */
async function packageData(
  size: string | undefined,
  path: string | undefined,
  { system, stdin }: CommandContext,
): Promise<Uint8Array | string> {
  if (path !== undefined) {
    try {
      return system.files.read(path);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return `Failure [INSTALL_FAILED_INVALID_URI: ${path}]`;
    }
  }
  const wanted = Number(size);
  const parts: Uint8Array[] = [];
  let got = 0;
  for await (const part of stdin) {
    parts.push(part);
    got += part.length;
    if (got >= wanted) break;
  }
  return got === wanted ? Buffer.concat(parts) : "Failure [INSTALL_FAILED_INVALID_APK: Short read]";
}

/** Several files are the parts of one app; the first that names a package counts. */
async function install(
  files: readonly Uint8Array[],
  grantsAll: boolean,
  context: CommandContext,
): Promise<number> {
  const { faults } = context.system.parts;
  if (faults.installFailure !== undefined) return failed(context, `Failure [${faults.installFailure}]`);
  if (faults.storageFull) return failed(context, "Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]");
  const [first] = files;
  const apk = first && readApk(first);
  if (!first || !apk) {
    return failed(context, "Failure [INSTALL_PARSE_FAILED_NOT_APK: Failed to parse the package]");
  }
  const old = context.system.packages.find(apk.packageName);
  if (old && old.versionCode > apk.versionCode) {
    return failed(
      context,
      `Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code ${apk.versionCode} is older than current ${old.versionCode}]`,
    );
  }
  context.system.packages.install(apk, first, grantsAll);
  return print(context, "Success\n");
}
