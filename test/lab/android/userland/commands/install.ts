import { FileError } from "../../labShell.ts";
import { readApk } from "../apk.ts";
import type { CommandContext } from "../system.ts";
import { print, readOptions } from "./reply.ts";

type Action = (args: readonly string[], context: CommandContext) => number | Promise<number>;

const valued = ["-S", "-i", "-p", "--user", "--abi", "--install-location", "--originating-uri", "--pkg"];

export const installActions: Readonly<Record<string, Action>> = {
  install: async (args, context) => {
    const { options, rest } = readOptions(args, valued);
    const data = await packageData(options.get("-S"), rest[0], context);
    return data instanceof Uint8Array ? install(data, options.has("-g"), context) : failed(context, data);
  },
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

async function install(data: Uint8Array, grantsAll: boolean, context: CommandContext): Promise<number> {
  const { faults } = context.system.parts;
  if (faults.installFailure !== undefined) return failed(context, `Failure [${faults.installFailure}]`);
  if (faults.storageFull) return failed(context, "Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]");
  const apk = readApk(data);
  if (!apk) {
    return failed(context, "Failure [INSTALL_PARSE_FAILED_NOT_APK: Failed to parse the package]");
  }
  const old = context.system.packages.find(apk.packageName);
  if (old && old.versionCode > apk.versionCode) {
    return failed(
      context,
      `Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code ${apk.versionCode} is older than current ${old.versionCode}]`,
    );
  }
  context.system.packages.install(apk, data, grantsAll);
  return print(context, "Success\n");
}
