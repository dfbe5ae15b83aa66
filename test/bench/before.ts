import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const workspaces = ["controllers", "skills", "mcp-server", "agent-client"];

/**
 * The product of an earlier commit, built once into the cache of node_modules; gives its folder. Its packages are those
 * that are installed now. The clone must have the commit.
 */
export async function buildBefore(root: string, commit: string): Promise<string> {
  const folder = join(root, "node_modules", ".cache", "labwright-before", commit);
  const mark = join(folder, "built");
  if (existsSync(mark)) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "node_modules", "@labwright"), { recursive: true });
  const archive = join(folder, "source.tar");
  await run("git", ["archive", "-o", archive, commit], { cwd: root });
  await run("tar", ["xf", archive, "-C", folder]);
  // Else the workspaces of this commit would be found in the folder above.
  for (const name of workspaces)
    await symlink(join("..", "..", name), join(folder, "node_modules", "@labwright", name));
  await run(process.execPath, [join(folder, "mcp-server", "build.mjs")], { cwd: folder });
  await writeFile(mark, "");
  return folder;
}
