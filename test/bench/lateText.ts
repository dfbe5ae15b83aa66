import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import type { StdioServer } from "./stdioServer.ts";

const text = "Order 4711 is confirmed";
const rounds = 5;

async function ours(server: StdioServer, url: string): Promise<boolean> {
  await server.call("execute_device_action", { actions: [{ command: "navigate_to_url", params: { url } }] });
  const reply = await server.call(
    "verify_device_state",
    { checks: [{ command: "text_visible", params: { text } }] },
    { mayFail: true },
  );
  return !reply.isError && reply.structured?.pass === true;
}

async function theirs(server: StdioServer, url: string): Promise<boolean> {
  await server.call("browser_navigate", { url });
  return !(await server.call("browser_verify_text_visible", { text }, { mayFail: true })).isError;
}

const share = (results: readonly boolean[]): number => results.filter(Boolean).length / results.length;

/** The share of rounds in which text that appears 1.5 s after the page is verified, with no parameter about time. */
export async function measureLateText(sides: Sides, url: (path: string) => string): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  const servers = [sides.ours(dataDir), sides.theirs("--caps", "testing")] as const;
  const seen = { ours: [] as boolean[], theirs: [] as boolean[] };
  try {
    for (const server of servers) await server.initialize();
    for (let round = 0; round < rounds; round++) {
      seen.ours.push(await ours(servers[0], url("/late")));
      seen.theirs.push(await theirs(servers[1], url("/late")));
    }
    return [{ id: "check.late_text", ours: share(seen.ours), theirs: share(seen.theirs), runs: rounds }];
  } finally {
    for (const server of servers) await server.end();
    await sides.stopDaemon(dataDir);
  }
}
