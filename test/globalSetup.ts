import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const build = fileURLToPath(new URL("../mcp-server/build.mjs", import.meta.url));

/** Brings the build up to date, since tests of processes run it; quick when nothing changed. */
export function setup(): void {
  execFileSync(process.execPath, [build], { stdio: ["ignore", "ignore", "inherit"] });
}
