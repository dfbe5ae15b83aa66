import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";

/** The last commit without the walls. */
const lastWithout = "5eef6965";

async function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
}

/** Links each package of `from` into `to`. The workspaces are those of the folder itself. */
async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(join(to, "@labwright"), { recursive: true });
  for (const name of await readdir(from))
    if (!/^\.(?!bin)|^@labwright$/.test(name)) await symlink(join(from, name), join(to, name));
  for (const name of ["agent-client", "controllers", "mcp-server", "skills", "test"])
    await symlink(join("..", "..", name), join(to, "@labwright", name));
}

/**
 * The built product of the commit before the walls, with the packages of this checkout. Made once and kept below node_modules.
 * The commit must be in this repository: a shallow clone needs `git fetch --unshallow`.
 */
export async function beforeBuild(root: string): Promise<string> {
  const commit = process.env.BENCH_BEFORE ?? lastWithout;
  const cache = join(root, "node_modules", ".cache", "labwright-test");
  const folder = join(cache, `before-${commit}`);
  if (existsSync(folder)) return folder;
  const fresh = join(cache, `fresh-${process.pid}`);
  await mkdir(fresh, { recursive: true });
  try {
    await run("git", ["archive", "--output", join(fresh, "source.tar"), commit], root);
    await run("tar", ["-xf", "source.tar"], fresh);
    await linkPackages(join(root, "node_modules"), join(fresh, "node_modules"));
    await symlink(join(root, "mcp-server", "node_modules"), join(fresh, "mcp-server", "node_modules"));
    await run(process.execPath, [join("mcp-server", "build.mjs")], fresh);
    await rename(fresh, folder);
    return folder;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}
