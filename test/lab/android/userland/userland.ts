import { once } from "node:events";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { type DeviceSide, FileError, type ShellIo } from "../labShell.ts";
import type { Persona } from "../personas/persona.ts";
import { am } from "./commands/activity.ts";
import { content } from "./commands/content.ts";
import { dumpsys } from "./commands/dumpsys.ts";
import { fileCommands } from "./commands/fileCommands.ts";
import { input } from "./commands/input.ts";
import { log, logcat } from "./commands/logcat.ts";
import { pm } from "./commands/packageCommands.ts";
import { processCommands } from "./commands/processCommands.ts";
import { fail, print } from "./commands/reply.ts";
import { screencap, uiautomator } from "./commands/screen.ts";
import { settingCommands } from "./commands/settingCommands.ts";
import { shellCommands } from "./commands/shellCommands.ts";
import { systemCommands } from "./commands/systemCommands.ts";
import { textCommands } from "./commands/textCommands.ts";
import { writeLogOf } from "./logWriter.ts";
import { Shell, type ShellHost } from "./sh/shell.ts";
import { type Command, type Parts, System } from "./system.ts";

const { uimode, ...settings } = settingCommands;

const commands: Readonly<Record<string, Command>> = {
  ...shellCommands,
  ...fileCommands,
  ...textCommands,
  ...settings,
  ...processCommands,
  ...systemCommands,
  am,
  content,
  dumpsys,
  input,
  log,
  logcat,
  pm,
  screencap,
  uiautomator,
};

/** Folders whose programs may also be called by their path. */
const programFolders = /^\/(?:system|vendor)\/x?bin\//;

export function createUserland(parts: Parts): { system: System; side: DeviceSide } {
  const system = new System(parts);
  writeLogOf(system);
  const { files, properties, endpoints } = system;
  const host: ShellHost = {
    has: (name) => commandOf(name) !== undefined,
    run(name, args, io, shell) {
      const line = [name.replace(programFolders, ""), ...args].join(" ");
      const command = outputOf(line, parts.persona) ?? commandOf(name);
      if (!command) {
        system.unknown.push(line);
        return undefined;
      }
      return run(command, line, args, { ...io, system, shell });
    },
    paths: (pattern) => files.matching(pattern),
    read: (path) => files.read(path),
    write: (path, data, append) => files.store(path, data, append),
  };

  async function run(
    command: Command,
    line: string,
    args: readonly string[],
    context: Parameters<Command>[1],
  ): Promise<number> {
    // The dump decides itself, by whether the screen rests.
    if (!line.startsWith("uiautomator")) await system.delay(line, context.signal);
    try {
      return await command(args, context);
    } catch (error) {
      if (error instanceof FileError) return fail(context, `${line.split(" ", 1)[0]}: ${error.message}`);
      throw error;
    }
  }

  files.make("/proc/net/unix", () => unixSockets([...endpoints.keys()]));
  files.make("/proc/net/tcp6", () => tcpSockets([...endpoints.keys()]));
  const startVariables = new Map([
    ["HOME", "/"],
    ["PATH", "/system/bin:/vendor/bin"],
    ["EXTERNAL_STORAGE", "/sdcard"],
    ["TMPDIR", "/data/local/tmp"],
  ]);
  return {
    system,
    side: {
      files,
      banner: () => {
        const names = ["ro.product.name", "ro.product.model", "ro.product.device"];
        return Object.fromEntries(names.map((name) => [name, properties.get(name) ?? ""]));
      },
      run(command: string, io: ShellIo) {
        system.history.push(command);
        const shell = new Shell(host, new Map(startVariables), ["sh"]);
        return shell.run(command === "" ? "sh" : command, io);
      },
      connect: (endpoint) => connectTo(endpoints.get(endpoint)),
      reboot: parts.reboot,
    },
  };
}

function outputOf(line: string, { outputs }: Persona): Command | undefined {
  const text = outputs[line];
  return text === undefined ? undefined : (_, context) => print(context, text);
}

async function connectTo(port: number | undefined): Promise<Duplex | undefined> {
  if (port === undefined) return undefined;
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return socket;
  } catch {
    return undefined;
  }
}

function commandOf(name: string): Command | undefined {
  const plain = name.replace(programFolders, "");
  return Object.hasOwn(commands, plain) ? commands[plain] : undefined;
}

/** Java listens on both families by a socket of IPv6 (Linux: proc_net_tcp). */
function tcpSockets(endpoints: readonly string[]): string {
  const anyone = "0".repeat(32);
  const lines = endpoints.flatMap((endpoint, index) => {
    const port = Number(/^tcp:(\d+)$/.exec(endpoint)?.[1]);
    if (!(port > 0)) return [];
    const own = `${anyone}:${port.toString(16).toUpperCase().padStart(4, "0")}`;
    return `${String(index).padStart(4)}: ${own} ${anyone}:0000 0A 00000000:00000000 00:00000000 00000000 10123        0 ${30_000 + index} 1 0000000000000000 100 0 0 10 0\n`;
  });
  return `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n${lines.join("")}`;
}

function unixSockets(endpoints: readonly string[]): string {
  const names = endpoints.filter((one) => one.startsWith("localabstract:"));
  const lines = names.map((name, index) => {
    const inode = String(20_000 + index);
    return `0000000000000000: 00000002 00000000 00010000 0001 01 ${inode} @${name.slice("localabstract:".length)}\n`;
  });
  return `Num       RefCount Protocol Flags    Type St Inode Path\n${lines.join("")}`;
}
