import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Outside every node_modules of ours: a package there would put its programs before ours. */
const cache = fileURLToPath(new URL("../out/cache/", import.meta.url));

/** A program of an npm package at its pinned version (`name@version`), fetched the first time. Throws when npm cannot. */
export function fetchProgram(spec: string, path: string, into = cache): string {
  const folder = join(into, spec.replaceAll("/", "-"));
  const program = join(folder, "node_modules", path);
  if (existsSync(program)) return program;
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  const install = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", fresh];
  execFileSync("npm", [...install, spec], { stdio: "ignore" });
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  return program;
}
