import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const version = "2.1.330";
/** Outside every node_modules of ours: about 360 MB that only this test needs. */
const cache = fileURLToPath(new URL("../../out/cache/", import.meta.url));
const platform = `${process.platform}-${process.arch}`;

/** The program of Claude Code at its pinned version, fetched by npm the first time. */
export function claudeCode(): string {
  const folder = join(cache, `claude-code-${version}`);
  const program = join(folder, `node_modules/@anthropic-ai/claude-code-${platform}/claude`);
  if (existsSync(program)) return program;
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  const install = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", fresh];
  execFileSync("npm", [...install, `@anthropic-ai/claude-code@${version}`], { stdio: "ignore" });
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  return program;
}
