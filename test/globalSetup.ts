import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { sharePostgres } from "./fixtures/sharedPostgres.ts";
import { ownTemporaryFolder } from "./temporaryFolder.ts";

const build = fileURLToPath(new URL("../mcp-server/build.mjs", import.meta.url));

/** Brings the build up to date, since tests of processes run it; quick when nothing changed. Gives the function that ends all. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  execFileSync(process.execPath, [build], { stdio: ["ignore", "ignore", "inherit"] });
  const removeFolder = ownTemporaryFolder();
  const postgres = await sharePostgres();
  project.provide("postgresDoor", postgres.door);
  return async () => {
    await postgres.stop();
    removeFolder();
  };
}
