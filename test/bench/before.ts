import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Sides } from "./sides.ts";

const run = promisify(execFile);

/**
 * The product of an earlier commit with the packages of its own lockfile, built into the bench's folder; gives its place. The
 * clone must have the commit.
 */
export async function buildBefore({ root, scratch }: Sides, commit: string): Promise<string> {
  const folder = join(scratch, `before-${commit}`);
  await mkdir(folder);
  const archive = join(folder, "source.tar");
  await run("git", ["archive", "-o", archive, commit], { cwd: root });
  await run("tar", ["xf", archive, "-C", folder]);
  const quietly = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  await run("npm", ["ci", ...quietly], { cwd: folder, maxBuffer: 50_000_000 });
  await run(process.execPath, [join(folder, "mcp-server", "build.mjs")], { cwd: folder });
  return folder;
}
