import { z } from "zod";
import type { DaemonFile } from "../agentSide.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { median, timed } from "../statistics.ts";
import { openTaskSide } from "./taskSide.ts";

const rounds = 51;
const warmUps = 10;

const listSchema = z.object({ tools: z.array(z.object({ name: z.string() })).min(1) });

async function medianOf(list: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = -warmUps; round < rounds; round++) {
    const { ms, result } = await timed(list);
    listSchema.parse(result);
    if (round >= 0) times.push(ms);
  }
  return median(times);
}

const overRest =
  ({ port, token }: DaemonFile) =>
  async (): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/tools?capability=NAVIGATION`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return response.json();
  };

/** How long a client waits for the tools: by capability over REST, and all of them over MCP. */
export async function measureDiscovery(bench: Bench): Promise<Measurement[]> {
  const side = await openTaskSide(bench, { prepare: async () => undefined });
  const dataDir = await bench.sides.newDataDir();
  const host = bench.sides.ours(dataDir);
  try {
    await host.initialize();
    return [
      { id: "discovery.rest", ours: await medianOf(overRest(side.daemon)), runs: rounds },
      {
        id: "discovery.mcp",
        ours: await medianOf(async () => ({ tools: await host.listTools() })),
        runs: rounds,
      },
    ];
  } finally {
    await host.end();
    await bench.sides.stopDaemon(dataDir);
    await side.close();
  }
}
