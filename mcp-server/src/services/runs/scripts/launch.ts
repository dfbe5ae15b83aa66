import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Sandbox, startUnsandboxed, type WatchedProgram } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { Run, Script, ScriptTask } from "../../ports.ts";
import type { Interpreter } from "./interpreters.ts";
import type { RunFolder } from "./runFolder.ts";

export type ScriptLimits = { memoryMb: number; processes: number };

/** A script that can be started: what runs it, and in what. */
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

/** Starts the script with its way to the server in its environment. */
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
