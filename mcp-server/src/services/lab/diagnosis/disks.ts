import { existsSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DiagnosisFinding } from "@labwright/controllers";
import type { Config } from "../../../config.ts";
import { fileFailure } from "../../../fileFailure.ts";

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
