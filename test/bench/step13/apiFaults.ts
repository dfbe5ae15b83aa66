import { type Fault, serveShop, shopTokens } from "../../fixtures/apiShop.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { apiRun } from "./apiRuns.ts";
import { shopFaults } from "./shopFaults.ts";

const auth = { anna: { token: shopTokens.anna }, berta: { token: shopTokens.berta } };
const resources = ["Product", "Customer", "Order", "Coupon", "Article", "Room"];
const verbs = ["create", "read", "replace", "delete"];

/** Thirty faults at once on a server of ours, and the same server without any. */
export async function measureApiFaults({ sides, note }: Bench): Promise<Measurement[]> {
  const host = sides.ours(await sides.newDataDir());
  try {
    await host.initialize();
    const findings = async (name: string, faults: readonly Fault[]) => {
      const shop = await serveShop(faults);
      try {
        await host.call("import_api_spec", { source: shop.documentUrl, name });
        const all: string[] = [];
        for (const one of resources) {
          const operations = [`list${one}s`, ...verbs.map((verb) => verb + one)];
          const run = await apiRun(host, { api: name, auth, operations });
          if (run.cut.findings !== undefined) throw new Error(`${one}: more findings than are shown`);
          all.push(...run.findings.map(({ fault, operation }) => `${fault} ${operation}`));
        }
        return all;
      } finally {
        await shop.close();
      }
    };
    const found = await findings("faulty", shopFaults);
    const missed = shopFaults.filter(({ finds, operation }) => !found.includes(`${finds} ${operation}`));
    const falseAlarms = await findings("sound", []);
    for (const { name, operation } of missed) note(`api: not found: ${name} (${operation})`);
    for (const one of falseAlarms) note(`api: found on the sound server: ${one}`);
    const count = shopFaults.length - missed.length;
    return [
      { id: "api.found", ours: count, runs: shopFaults.length },
      { id: "api.per_cause", ours: found.length / count, runs: found.length },
      { id: "api.sound", ours: falseAlarms.length, runs: resources.length },
    ];
  } finally {
    await host.end();
  }
}
