import { execFile } from "node:child_process";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Sides } from "./sides.ts";

const run = promisify(execFile);
const workspaces = ["controllers", "skills", "mcp-server", "agent-client"];

/**
 * The product of an earlier commit, built into the bench's own folder; gives its place. Its packages are those that are
 * installed now. The clone must have the commit.
 */
export async function buildBefore({ root, scratch }: Sides, commit: string): Promise<string> {
  const folder = join(scratch, `before-${commit}`);
  const packages = join(folder, "node_modules");
  await mkdir(join(packages, "@labwright"), { recursive: true });
  const archive = join(folder, "source.tar");
  await run("git", ["archive", "-o", archive, commit], { cwd: root });
  await run("tar", ["xf", archive, "-C", folder]);
  for (const name of workspaces) await symlink(join(folder, name), join(packages, "@labwright", name));
  const installed = await readdir(join(root, "node_modules"));
  for (const name of installed.filter((one) => one !== "@labwright" && one !== ".cache"))
    await symlink(join(root, "node_modules", name), join(packages, name));
  await run(process.execPath, [join(folder, "mcp-server", "build.mjs")], { cwd: folder });
  return folder;
}
