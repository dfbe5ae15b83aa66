import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  findProgram,
  runProgram,
  type Sandbox,
  startUnsandboxed,
  type WatchedProgram,
} from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { Language, Run, Script, ScriptTask } from "../../ports.ts";
import type { RunFolder } from "./channel.ts";

export type ScriptLimits = { memoryMb: number; processes: number };

export type Launch = {
  script: Script;
  interpreter: Interpreter;
  /** What `labwright call` runs on. */
  node: Interpreter;
  /** Undefined: without one, because the configuration says so. */
  sandbox: Sandbox | undefined;
};

/** Each file, and each folder that a script may write. */
const fileMb = 64;

/** The sandboxed script is another user than a server that is root. Throws SCRIPT_FAILED. */
export async function checkReadable({ folder, name }: Script): Promise<void> {
  const file = join(folder, name);
  const isReadable = await access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
  const forOthers = process.getuid?.() !== 0 || (await isForOthers(folder, file));
  if (isReadable && forOthers) return;
  throw new ToolError(
    "SCRIPT_FAILED",
    `${name} may not be read by the user that scripts run as.`,
    `Run: chmod o+rx ${JSON.stringify(folder)} && chmod o+r ${JSON.stringify(file)}`,
  );
}

async function isForOthers(folder: string, file: string): Promise<boolean> {
  const [around, own] = await Promise.all([stat(folder), stat(file)]);
  return (around.mode & 0o005) === 0o005 && (own.mode & 0o004) !== 0;
}

export function startScript(
  launch: Launch,
  task: ScriptTask,
  run: Run,
  given: { folder: RunFolder; clients: string; limits: ScriptLimits },
): WatchedProgram {
  const { script, interpreter, node, sandbox } = launch;
  const { folder, clients, limits } = given;
  const inside = sandbox
    ? {
        clients: "/labwright",
        scripts: "/scripts",
        socket: "/run/labwright/socket",
        result: "/run/labwright/result",
      }
    : { clients, scripts: script.folder, socket: folder.socket, result: folder.result };
  const command = [...interpreter.command, `${inside.scripts}/${script.name}`, ...task.args] as const;
  const env = environmentOf(
    run,
    task,
    { ...inside, node: node.command[0] },
    sandbox ? "/scratch" : folder.folder,
  );
  if (!sandbox) return startUnsandboxed(command, { cwd: folder.folder, env });
  return sandbox.start({
    command,
    env,
    limits: { ...limits, fileMb },
    folders: ["/scratch", "/tmp"],
    mounts: [
      ...[...new Set([...interpreter.places, ...node.places])].map((place) => ({ from: place, to: place })),
      { from: script.folder, to: inside.scripts },
      { from: clients, to: inside.clients },
      { from: folder.socket, to: inside.socket, writable: true },
      { from: folder.result, to: inside.result, writable: true },
    ],
  });
}

type Places = { clients: string; socket: string; result: string; node: string };

/** Nothing of the server's own environment. */
function environmentOf(run: Run, task: ScriptTask, places: Places, work: string): Record<string, string> {
  const { session_id, device, id } = run;
  return {
    PATH: `${places.clients}:/usr/local/bin:/usr/bin:/bin`,
    HOME: work,
    LANG: "C.UTF-8",
    PYTHONPATH: places.clients,
    PYTHONUNBUFFERED: "1",
    PYTHONDONTWRITEBYTECODE: "1",
    LABWRIGHT_CLIENT: join(places.clients, "labwright.mjs"),
    LABWRIGHT_NODE: places.node,
    LABWRIGHT_SOCKET: places.socket,
    LABWRIGHT_RESULT: places.result,
    LABWRIGHT_EXECUTION_ID: id,
    LABWRIGHT_DEVICE_ID: device.id,
    ...(session_id !== undefined && { LABWRIGHT_SESSION_ID: session_id }),
    ...(task.userinterface !== undefined && { LABWRIGHT_USERINTERFACE: task.userinterface }),
  };
}

/** What runs a language: its command, and where it lies outside /usr, to be shown inside a sandbox at the same path. */
export type Interpreter = { command: readonly [string, ...string[]]; places: readonly string[] };

const answerMs = 10_000;
const where = "import sys; print(sys.executable); print(sys.prefix); print(sys.base_prefix)";

/** Throws SCRIPT_FAILED when the language is not installed. */
export async function findInterpreter(language: Language, signal: AbortSignal): Promise<Interpreter> {
  if (language === "node") {
    const file = await realpath(process.execPath);
    return { command: [file], places: beyondUsr([file]) };
  }
  const name = language === "python" ? "python3" : "bash";
  const file = findProgram(name);
  if (file === undefined) throw missing(name);
  // Debian's bash takes a socket as input for a remote login, which reads its settings.
  if (language === "bash") return { command: [file, "--norc"], places: beyondUsr([file]) };
  // What is on the PATH may be a script of a version manager; the program itself knows where it lies.
  const { code, stdout } = await runProgram(file, ["-c", where], { signal, timeoutMs: answerMs });
  const [program, ...places] = stdout.trim().split("\n");
  if (code !== 0 || !program) throw missing(name);
  return { command: [program], places: beyondUsr(places) };
}

const beyondUsr = (paths: readonly string[]) =>
  [...new Set(paths)].filter((path) => !/^\/(usr|bin|sbin|lib\d*)(\/|$)/.test(path));

const missing = (name: string) =>
  new ToolError(
    "SCRIPT_FAILED",
    `There is no ${name} on this host that works, so nothing was run.`,
    `Install it (sudo apt-get install -y ${name}) so that it is on the server's PATH.`,
  );
