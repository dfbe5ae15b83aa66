import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { freePort, type StartedApp, startApp } from "./startedApp.ts";

/** Node-RED's editor on loopback, without the two dialogs of its first start, as in the picture the labels are from. */
export async function startNodeRed(root: string, scratch: string): Promise<StartedApp> {
  const dir = await mkdtemp(join(scratch, "node-red-"));
  const settings = { uiHost: "127.0.0.1", telemetry: { enabled: false }, editorTheme: { tours: false } };
  await writeFile(join(dir, "settings.js"), `module.exports = ${JSON.stringify(settings)};`);
  const port = await freePort();
  const { resolve } = createRequire(join(root, "test", "package.json"));
  const red = join(resolve("node-red/package.json"), "..", "red.js");
  const app = await startApp(`http://127.0.0.1:${port}/`, [
    ...[red, "-p", String(port), "-u", dir],
    ...["-s", join(dir, "settings.js")],
  ]);
  return {
    url: app.url,
    async close() {
      await app.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
