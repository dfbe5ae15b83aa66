import { join } from "node:path";
import { readPhrasings } from "../../services/apps/authoring/readPhrasings.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { openTaskSide } from "./taskSide.ts";

/** Tasks in people's words for three apps that are not ours, planned by the grammar. Notes what is not right. */
export async function measurePhrasings({ sides, note }: Bench): Promise<Measurement[]> {
  const web = { headless: true, executable_path: sides.browser };
  const file = join(sides.root, "test/services/apps/authoring/phrasings.yaml");
  const found: Measurement[] = [];
  const side = await openTaskSide(
    { sides },
    {
      devices: [
        { name: "web", model: "web", controllers: { web } },
        { name: "box", model: "simulated" },
      ],
      prepare: async (host) => {
        const client = {
          call: (name: string, args: Record<string, unknown>) => host.call(name, args, { mayFail: true }),
        };
        const rows = await readPhrasings(client, "phrasings", file);
        const missed = rows.filter(({ verdict }) => verdict !== "right");
        for (const { text, verdict, answer } of missed) note(`phrasings: ${verdict}: ${text}: ${answer}`);
        const wrong = missed.filter(({ verdict }) => verdict === "wrong").length;
        found.push({ id: "phrasings.right", ours: 1 - missed.length / rows.length, runs: rows.length });
        found.push({ id: "phrasings.wrong", ours: wrong, runs: rows.length });
      },
    },
  );
  await side.close();
  return found;
}
