import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { type DiagnosisFinding, findProgram } from "@labwright/controllers";
import { dataDirProblem } from "../../../config/dataDir.ts";
import type { Environment } from "../../../config/places.ts";
import type { Config } from "../../../config.ts";
import { fileFailure } from "../../../fileFailure.ts";

const oldestNode: readonly [number, number] = [20, 19];

export function checkNode(version: string): DiagnosisFinding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isFit = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  if (isFit) return { what: "Node", status: "ok", detail: version };
  return {
    what: "Node",
    status: "missing",
    detail: `${version} is older than ${oldestNode.join(".")}`,
    fix: "Install a newer one from https://nodejs.org",
  };
}

/** The program of util-linux that locks the data directory. Other systems have other ways. */
export function checkPrograms(env: Environment, platform: NodeJS.Platform): DiagnosisFinding[] {
  if (platform !== "linux") return [];
  const what = "flock";
  const file = findProgram(what, env);
  if (file !== undefined) return [{ what, status: "ok", detail: file }];
  return [
    {
      what,
      status: "warning",
      detail: "not found; two containers that share the data directory would not see each other's daemon",
      fix: "sudo apt-get install -y util-linux",
    },
  ];
}

/** The data directory: there or possible to make, ours alone, and writable. Leaves nothing in it. */
export function checkDataDir(path: string): DiagnosisFinding {
  const what = "data directory";
  if (!existsSync(path)) return checkPlaceFor(path);
  const problem = dataDirProblem(path);
  if (problem) return { what, status: "missing", detail: problem.message, fix: problem.hint };
  const { mode } = statSync(path);
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    return {
      what,
      status: "warning",
      detail: `${path} can be read by others (mode ${(mode & 0o777).toString(8)})`,
      fix: `chmod 700 ${JSON.stringify(path)}`,
    };
  }
  try {
    rmSync(mkdtempSync(join(path, ".doctor-")), { recursive: true });
    return { what, status: "ok", detail: path };
  } catch (error) {
    return {
      what,
      status: "missing",
      detail: `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      fix: "Make it writable for this user, or name another one with LABWRIGHT_DATA_DIR",
    };
  }
}

function checkPlaceFor(path: string): DiagnosisFinding {
  const parent = nearestFolder(path);
  try {
    accessSync(parent, constants.W_OK | constants.X_OK);
    return { what: "data directory", status: "ok", detail: `${path} will be made at the first start` };
  } catch {
    return {
      what: "data directory",
      status: "missing",
      detail: `${path} cannot be made: ${parent} is not writable`,
      fix: "Name another one with LABWRIGHT_DATA_DIR",
    };
  }
}

/** Whether the port that was asked for can be had. `own` is the port of a daemon of ours that runs. */
export async function checkPort(
  host: string,
  port: number,
  own: number | undefined,
): Promise<DiagnosisFinding> {
  const what = "port";
  if (port === own) return { what, status: "ok", detail: `${port} is served by the running daemon` };
  const problem = await tryPort(host, port);
  if (problem === undefined) return { what, status: "ok", detail: `${port} is free` };
  return {
    what,
    status: "warning",
    detail: `${port} on ${host} cannot be had: ${problem}`,
    fix: "End the program that holds it, or set server.port (0 takes a free one)",
  };
}

function tryPort(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(error.message));
    server.listen(port, host.replace(/^\[|\]$/g, ""), () => server.close(() => resolve(undefined)));
  });
}

/** A first start writes some 40 MB, and the embedded database takes no changes below 16 MB. */
const leastBytes = 50_000_000;
const fewBytes = 500_000_000;
/** A folder alone may still fit where a file does not. */
const probe = Buffer.alloc(65_536);

type Places = Pick<Config, "data_dir"> & { folders: Pick<Config["folders"], "artifacts"> };

/** The disks of the data directory and of the artifacts, each once: writable, with space. Leaves nothing on them. */
export function checkDisks(config: Places): DiagnosisFinding[] {
  const places = [nearestFolder(config.data_dir), nearestFolder(config.folders.artifacts)];
  const disks = new Map(places.map((place) => [statSync(place).dev, place]));
  return [...disks.values()].map(checkDisk);
}

function nearestFolder(path: string): string {
  let folder = path;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

function checkDisk(place: string): DiagnosisFinding {
  const what = "disk";
  const { bavail, bsize } = statfsSync(place);
  const free = `${Math.floor((bavail * bsize) / 1_000_000)} MB free for ${place}`;
  const fix = "Free space there, or name another place with LABWRIGHT_DATA_DIR";
  const problem = bavail * bsize < leastBytes ? undefined : writeProblem(place);
  if (problem) return { what, status: "missing", detail: problem.message, fix: problem.hint };
  if (bavail * bsize < leastBytes) return { what, status: "missing", detail: `full: ${free}`, fix };
  if (bavail * bsize < fewBytes) return { what, status: "warning", detail: free, fix };
  return { what, status: "ok", detail: free };
}

function writeProblem(place: string): { message: string; hint: string } | undefined {
  try {
    const folder = mkdtempSync(join(place, ".doctor-"));
    try {
      writeFileSync(join(folder, "probe"), probe);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    return undefined;
  } catch (error) {
    return (
      fileFailure(error) ?? {
        message: `${place} cannot be written: ${String(error)}`,
        hint: "Make it writable",
      }
    );
  }
}
