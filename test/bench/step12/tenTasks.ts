import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { alternate, median, ratiosOf, timed } from "../statistics.ts";
import { openTaskSide, type TaskEnd, type TaskSide } from "./taskSide.ts";

const many = 10;
const options = { rounds: 5, warmUps: 1 };
const names = Array.from({ length: many }, (_, index) => `browser${index + 1}`);

const open = (url: string) => [{ actions: [{ command: "navigate_to_url", params: { url } }] }];
const shows = (text: string) => [{ command: "text_visible", params: { text } }];

/** An app as real ones are: a page comes after 100 ms, and what `Sent` shows a moment after the page. */
const orders = (url: Bench["url"]) => ({
  ...{ format_version: 1, name: "orders", models: ["web"] },
  tree: {
    nodes: [
      { label: "Entry", type: "entry" },
      { label: "Start", verifications: shows("A page of ordinary size.") },
      { label: "Sent", verifications: shows("Order 1 is sent") },
    ],
    edges: [
      { source: "Entry", target: "Start", action_sets: open(url("/small?after=100")) },
      { source: "Start", target: "Sent", action_sets: open(url("/sent?order=1&after=100")) },
    ],
  },
});

async function runOn(side: TaskSide, device: string): Promise<TaskEnd> {
  const end = await side.run({
    task: 'go to Start and then go to Sent and then check that "Order 1 is sent" is shown',
    ...{ userinterface_name: "orders", device_ids: [device] },
  });
  if (!end.result.success) throw new Error(`${device}: ${end.result.verification.reasoning}`);
  return end;
}

/** Ten tasks on ten browsers, next to one task; and how many tasks begin to run in a second. */
export async function measureTenTasks(bench: Bench): Promise<Measurement[]> {
  const web = { headless: true, executable_path: bench.sides.browser };
  const devices = names.map((name) => ({ name, model: "web", controllers: { web } }));
  const side = await openTaskSide(bench, {
    devices,
    prepare: async (host) => {
      await host.call("import_userinterface", { yaml: JSON.stringify(orders(bench.url)) });
    },
  });
  try {
    for (const name of names) await runOn(side, name);
    const started: number[] = [];
    const all = async (): Promise<number> => {
      const { ms, result } = await timed(() => Promise.all(names.map((name) => runOn(side, name))));
      const begun = result.map(({ phases }) => phases.find(({ status }) => status === "executing")?.at);
      started.push((1_000 * many) / Math.max(...begun.map((at) => at ?? Number.NaN)));
      return ms;
    };
    const one = async () => (await timed(() => runOn(side, names[0] ?? ""))).ms;
    const [ours = [], theirs = []] = await alternate([all, one], options);
    return [
      {
        id: "ten.tasks",
        ours: median(ours),
        theirs: median(theirs),
        runs: ours.length,
        ratios: ratiosOf(ours, theirs),
      },
      { id: "ten.started", ours: median(started.slice(options.warmUps)), runs: ours.length },
    ];
  } finally {
    await side.close();
  }
}
