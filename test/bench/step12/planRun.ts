import { saveApp } from "../agentCost.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { alternate, median, ratiosOf, timed } from "../statistics.ts";
import type { StdioServer } from "../stdioServer.ts";

const options = { rounds: 21, warmUps: 4 };

type Line = { go: string } | { command: string; params: object; timeout_ms?: number };

/** The last check is of `text`. */
const linesFor = (text: string): readonly Line[] => [
  { go: "Start" },
  { command: "text_visible", params: { text: "A page of ordinary size." } },
  { command: "input_text", params: { selector: "Name", text: "Ada" } },
  { command: "click_element", params: { selector: "Next page" } },
  { command: "text_visible", params: { text: "Reached page" } },
  { go: "Start" },
  { go: "Reached" },
  { command: "text_visible", params: { text }, timeout_ms: 300 },
];

const asPlan = (lines: readonly Line[]) => ({
  task: "the order's way",
  steps: lines.map((line, at) => ({
    ...{ index: at + 1, objective: `step ${at + 1}`, depends_on: at === 0 ? [] : [at] },
    ...("go" in line ? { command: "execute_navigation", params: { target_node: line.go } } : line),
  })),
});

const asTestcase = (name: string, lines: readonly Line[]) => ({
  ...{ name, app: "shop", fresh: false },
  steps: lines.map((line) => {
    if ("go" in line) return line;
    const { command, params, ...more } = line;
    return { [command]: params, ...more };
  }),
});

type Verdict = { status: unknown; verified: unknown };

async function verdictOf(host: StdioServer, tool: string, args: object): Promise<Verdict> {
  const more = { userinterface_name: "shop", device_id: "browser" };
  const { structured = {} } = await host.call(tool, { ...args, ...more }, { mayFail: true });
  return { status: structured.status, verified: structured.verified_count };
}

/** The same steps as a plan and as a saved test case, on one browser, taking turns. */
export async function measurePlanRun({ sides, url, note }: Bench): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  const host = sides.ours(dataDir);
  try {
    await host.initialize();
    await saveApp(host, url);
    const both = async (name: string, text: string) => {
      const lines = linesFor(text);
      await host.call("save_testcase", { testcase: asTestcase(name, lines) });
      return [
        () => verdictOf(host, "execute_plan", { plan: asPlan(lines) }),
        () => verdictOf(host, "execute_testcase", { testcase: name }),
      ] as const;
    };
    const expectBoth = async (name: string, text: string, status: string) => {
      const [plan, testcase] = await both(name, text);
      const verdicts = [await plan(), await testcase()];
      const [first] = verdicts;
      if (first?.status !== status || verdicts.some((one) => JSON.stringify(one) !== JSON.stringify(first)))
        throw new Error(`${name}: not both ${status} with as many checks: ${JSON.stringify(verdicts)}`);
      return first;
    };
    await expectBoth("wrong", "No such words", "failed");
    const { verified } = await expectBoth("right", "Reached page", "passed");
    const [plan, testcase] = await both("right", "Reached page");
    const time = (run: () => Promise<Verdict>) => async () => {
      const { ms, result } = await timed(run);
      if (result.status !== "passed" || result.verified !== verified) throw new Error(JSON.stringify(result));
      return ms;
    };
    const [ours = [], theirs = []] = await alternate([time(plan), time(testcase)], options);
    note(`run: ${linesFor("").length} steps, ${String(verified)} checks held in each run of both`);
    const ratios = ratiosOf(ours, theirs);
    return [{ id: "run.plan", ours: median(ours), theirs: median(theirs), runs: ours.length, ratios }];
  } finally {
    await host.end();
    await sides.stopDaemon(dataDir);
  }
}
