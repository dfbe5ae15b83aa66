import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../fixtures/loopback.ts";

const startLimitMs = 60_000;
const endLimitMs = 5_000;

/**
 * Node-RED's editor on loopback, without the two dialogs of its first start, as in the picture of the labels. It ends with this
 * process at the latest.
 */
export async function startNodeRed(
  root: string,
  scratch: string,
): Promise<{ url: string; close(): Promise<void> }> {
  const dir = await mkdtemp(join(scratch, "node-red-"));
  const settings = { uiHost: "127.0.0.1", telemetry: { enabled: false }, editorTheme: { tours: false } };
  await writeFile(join(dir, "settings.js"), `module.exports = ${JSON.stringify(settings)};`);
  const port = await freePort();
  const { resolve } = createRequire(join(root, "test", "package.json"));
  const red = join(resolve("node-red/package.json"), "..", "red.js");
  const args = [red, "-p", String(port), "-u", dir, "-s", join(dir, "settings.js")];
  const child = spawn(process.execPath, args, { stdio: "ignore" });
  const ended = once(child, "exit");
  const killNow = (): void => {
    child.kill("SIGKILL");
  };
  process.once("exit", killNow);
  const close = async (): Promise<void> => {
    child.kill("SIGTERM");
    const timer = setTimeout(killNow, endLimitMs);
    await ended;
    clearTimeout(timer);
    process.off("exit", killNow);
    await rm(dir, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}/`;
  const answers = (): Promise<boolean> =>
    fetch(url).then(
      (response) => response.ok,
      () => false,
    );
  const deadline = Date.now() + startLimitMs;
  while (!(await answers())) {
    if (Date.now() > deadline || child.exitCode !== null) {
      await close();
      throw new Error(`Node-RED did not answer on ${url} within ${startLimitMs} ms.`);
    }
    await pause(100);
  }
  return { url, close };
}
