import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { expect, it, vi } from "vitest";
import { bundled } from "../fixtures/engine.ts";

/** The processes whose command line names a folder. */
async function processesOf(folder: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  return pids.filter((_, i) => lines[i]?.includes(folder));
}

it("a killed test run leaves no PostgreSQL server", async () => {
  const program = await bundled(new URL("../fixtures/postgresProcess.ts", import.meta.url).pathname);
  const child = spawn(process.execPath, [program.pathname], { stdio: ["ignore", "pipe", "inherit"] });
  const [folder] = await once(createInterface({ input: child.stdout }), "line");
  expect(await processesOf(folder)).not.toEqual([]);
  child.kill("SIGKILL");
  await once(child, "close");
  await vi.waitFor(async () => expect(await processesOf(folder)).toEqual([]), { timeout: 10_000 });
  await rm(folder, { recursive: true, force: true });
});
