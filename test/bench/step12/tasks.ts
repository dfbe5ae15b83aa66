import { readFile } from "node:fs/promises";
import { saveApp } from "../agentCost.ts";
import { processesBelow, treeMegabytes } from "../memory.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { median } from "../statistics.ts";
import { between, openTaskSide, type Script, type TaskEnd, type TaskSide } from "./taskSide.ts";

const rounds = 15;
const warmUps = 3;
const where = { userinterface_name: "shop", device_ids: ["browser"] };
const go = (index: number, node: string) => ({
  ...{ index, objective: `Go to ${node}`, depends_on: index === 1 ? [] : [index - 1] },
  ...{ command: "execute_navigation", params: { target_node: node } },
});
const act = (index: number, command: string, params: object, more: object = {}) => ({
  ...{ index, objective: `${command} ${JSON.stringify(params)}`, depends_on: index === 1 ? [] : [index - 1] },
  ...{ command, params, ...more },
});
const onStart = { text: "A page of ordinary size." };
const onReached = { text: "Reached page" };
const plan = (...steps: object[]) => ({ analysis: "", feasible: true, steps });

/** Words that the grammar does not read, so that the model plans. */
const asked = "Somehow see to it that the page behind the first one is all right";

type Kind = { task: string; script?: Script; replans?: number };

const tools = ["dump_ui_elements", "capture_screenshot", "execute_device_action", "verify_device_state"];
const device_id = "browser";
const looks = { tool: "dump_ui_elements", input: { device_id } };
const judged = {
  tools,
  calls: [
    looks,
    {
      tool: "execute_device_action",
      input: { device_id, actions: [{ command: "click_element", params: { selector: "Next page" } }] },
    },
    { tool: "capture_screenshot", input: { device_id } },
    {
      tool: "verify_device_state",
      input: { device_id, checks: [{ command: "text_visible", params: onReached }] },
    },
  ],
};

/** In this order each begins on another screen than the one that it goes to first. */
const kinds = {
  /** Planned by the grammar. */
  words: { task: 'go to Start and then check that "A page of ordinary size." is shown' },
  /** Two steps, planned by a model. */
  simple: { task: asked, script: { plans: [plan(go(1, "Reached"), act(2, "text_visible", onReached))] } },
  /** One simple step: a page is opened and the node's check made. */
  step: { task: asked, script: { plans: [plan(go(1, "Start"))] } },
  /** One step that the model does with tools. */
  judged: {
    task: asked,
    script: {
      plans: [plan({ index: 1, objective: "Look around", depends_on: [], tools })],
      calls: judged.calls,
    },
  },
  /** A step that fails and was not needed, so that the model reads the results. */
  read: {
    task: asked,
    script: {
      plans: [
        plan(
          go(1, "Reached"),
          act(2, "text_visible", onReached),
          act(3, "click_element", { selector: "Nowhere" }, { timeout_ms: 300 }),
        ),
      ],
      isComplete: true,
    },
  },
  /** Ten steps, one of them by tools, after a plan whose check failed. */
  complex: {
    task: asked,
    replans: 1,
    script: {
      plans: [
        plan(go(1, "Start"), act(2, "text_visible", onReached, { timeout_ms: 300 })),
        plan(
          go(1, "Start"),
          act(2, "text_visible", onStart),
          act(3, "click_element", { selector: "Next page" }),
          go(4, "Start"),
          act(5, "input_text", { selector: "Name", text: "Ada" }),
          act(6, "click_element", { selector: "Save" }),
          { index: 7, objective: "Look around", depends_on: [6], tools },
          go(8, "Start"),
          go(9, "Reached"),
          act(10, "text_visible", onReached, { timeout_ms: 300 }),
        ),
      ],
      calls: judged.calls,
    },
  },
} satisfies Record<string, Kind>;

/** Runs the task, and sees that it went as its script says. */
async function once(side: TaskSide, name: string, { task, script, replans = 0 }: Kind): Promise<TaskEnd> {
  const end = await side.run({ task, ...where }, script);
  const { success, replans: made, verification } = end.result;
  if (!success || made !== replans)
    throw new Error(
      `${name}: ${made} replans: ${verification.reasoning} ${JSON.stringify(end.result).slice(0, 2_000)}`,
    );
  return end;
}

const ticksPerSecond = 100;
/** Milliseconds of processor time of a process so far. */
async function cpuMs(pid: number): Promise<number> {
  const [, fields = ""] = /\) (.*)/.exec(await readFile(`/proc/${pid}/stat`, "utf8")) ?? [];
  const [user = 0, system = 0] = fields.split(" ").slice(11, 13).map(Number);
  return ((user + system) * 1_000) / ticksPerSecond;
}

/** Tasks one after the other in a real browser, with a model that answers at once. */
export async function measureTasks(bench: Bench): Promise<Measurement[]> {
  const side = await openTaskSide(bench, { prepare: (host) => saveApp(host, bench.url) });
  const ends = new Map<string, TaskEnd[]>(Object.keys(kinds).map((name) => [name, []]));
  const { pid } = side.daemon;
  const cpu: number[] = [];
  const megabytes: number[] = [];
  try {
    for (let round = -warmUps; round < rounds; round++) {
      const [started, cpuBefore] = [performance.now(), await cpuMs(pid)];
      for (const [name, kind] of Object.entries<Kind>(kinds)) {
        const end = await once(side, name, kind);
        if (round >= 0) ends.get(name)?.push(end);
      }
      if (round < 0) continue;
      cpu.push((100 * ((await cpuMs(pid)) - cpuBefore)) / (performance.now() - started));
      megabytes.push(await withoutBrowsers(pid));
    }
  } finally {
    await side.close();
  }
  const of = (id: string, name: keyof typeof kinds, value: (end: TaskEnd) => number): Measurement => ({
    id: `task.${id}`,
    ours: median((ends.get(name) ?? []).map(value)),
    runs: rounds,
  });
  const time = (from: string | undefined, to: string) => (end: TaskEnd) => between(end, from, to).at;
  const own = (end: TaskEnd): number => {
    const { at, modelMs } = between(end, undefined, "executing");
    return at - modelMs;
  };
  const inRounds = { runs: rounds };
  return [
    of("planning_words", "words", own),
    of("planning_model", "simple", own),
    of("plan", "complex", time(undefined, "executing")),
    of("step_simple", "step", time("executing", "verifying")),
    of("step_complex", "judged", time("executing", "verifying")),
    of("total_simple", "simple", ({ totalMs }) => totalMs),
    of("total_complex", "complex", ({ totalMs }) => totalMs),
    of("verification", "read", time("verifying", "done")),
    of("replan", "complex", time("replanning", "executing")),
    { id: "task.cpu", ours: median(cpu), ...inRounds },
    { id: "task.memory", ours: Math.max(...megabytes), ...inRounds },
  ];
}

/** Resident memory of the daemon and its programs, without the browser, which any tester has. */
async function withoutBrowsers(pid: number): Promise<number> {
  const browsers = (await processesBelow(pid)).filter(({ command }) => /chrom|msedge/i.test(command));
  return (await treeMegabytes(pid)) - browsers.reduce((sum, { megabytes }) => sum + megabytes, 0);
}
