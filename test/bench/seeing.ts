import { join } from "node:path";
import { parseEntries } from "./dumps.ts";
import { type Control, matchControls, readControls } from "./labels.ts";
import { tokensOf } from "./loginTokens.ts";
import { startNodeRed } from "./nodeRed.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { median } from "./statistics.ts";
import type { Reply, StdioServer } from "./stdioServer.ts";

const rounds = 5;
/** A dump that leaves out more of the 40 labelled controls is cheap and of no use. */
const fewestControls = 34;

const missingIn = ({ text }: Reply, controls: readonly Control[]): Control[] => {
  const matched = new Set(matchControls(parseEntries(text), controls));
  return controls.filter((control) => !matched.has(control));
};

async function ourDump(server: StdioServer, url: string): Promise<Reply> {
  await server.call("execute_device_action", {
    actions: [
      { command: "navigate_to_url", params: { url } },
      { command: "wait_for", params: { text: "inject", timeout_ms: 30_000 } },
    ],
  });
  return server.call("dump_ui_elements", {});
}

async function theirDump(server: StdioServer, url: string): Promise<Reply> {
  await server.call("browser_navigate", { url });
  await server.call("browser_wait_for", { text: "inject" });
  return server.call("browser_snapshot", {});
}

/** A dense editor with controls of every kind, many without a role or a written name. */
export async function measureSeeing(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const controls = await readControls(join(sides.root, "test", "bench"));
  const app = await startNodeRed(sides.root, sides.scratch);
  const dataDir = await sides.newDataDir();
  const servers = { ours: sides.ours(dataDir), theirs: sides.theirs() };
  try {
    for (const server of Object.values(servers)) await server.initialize();
    const other = await theirDump(servers.theirs, app.url);
    const dumps: Reply[] = [];
    for (let round = 0; round < rounds; round++) dumps.push(await ourDump(servers.ours, app.url));
    const shown = dumps.map((dump) => {
      const missing = missingIn(dump, controls);
      if (controls.length - missing.length < fewestControls)
        throw new Error(`The dump lacks ${missing.map(({ role, name }) => `${role} ${name}`).join(", ")}`);
      return controls.length - missing.length;
    });
    const theirShown = controls.length - missingIn(other, controls).length;
    note(`see: labelled controls in the dump: ${median(shown)} of ${controls.length}, theirs ${theirShown}`);
    const tokens = median(dumps.map(tokensOf));
    return [{ id: "see.dump_tokens", ours: tokens, theirs: tokensOf(other), runs: rounds }];
  } finally {
    for (const server of Object.values(servers)) await server.end();
    await sides.stopDaemon(dataDir);
    await app.close();
  }
}
