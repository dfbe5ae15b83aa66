import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";

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
 * Builds the product of an earlier commit in a folder below `scratch`, with the packages of this checkout. The environment's
 * BENCH_BEFORE names another commit. It must be in this repository: a shallow clone needs `git fetch --unshallow`.
 */
export async function beforeBuild(root: string, scratch: string, earlier: string): Promise<string> {
  const commit = process.env.BENCH_BEFORE ?? earlier;
  // Outside of node_modules, where esbuild would read no tsconfig.
  const folder = join(scratch, "before");
  await mkdir(folder);
  await run("git", ["archive", "--output", join(folder, "source.tar"), commit], root);
  await run("tar", ["-xf", "source.tar"], folder);
  await linkPackages(join(root, "node_modules"), join(folder, "node_modules"));
  await symlink(join(root, "mcp-server", "node_modules"), join(folder, "mcp-server", "node_modules"));
  await run(process.execPath, [join("mcp-server", "build.mjs")], folder);
  return folder;
}
