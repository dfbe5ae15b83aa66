import { pressActions } from "./pressSite.ts";
import type { Bridge, Host, World } from "./world.ts";

/** What the world was reported is done, and what was said that no fault excuses. */
export type Ledger = {
  testcases: Set<string>;
  events: Set<number>;
  /** Ended runs and how they ended. */
  runs: Map<string, string>;
  /** A driver's time with a device, from the answer that gave it to the call that gave it back. */
  holds: { device: string; who: string; from: number; to: number }[];
  answered: number;
  failed: number;
  unexpected: string[];
};

export const newLedger = (): Ledger => ({
  testcases: new Set(),
  events: new Set(),
  runs: new Map(),
  holds: [],
  answered: 0,
  failed: 0,
  unexpected: [],
});

const faultyCodes = new Set(["INTERNAL", "INVALID_RESPONSE"]);
let count = 0;
const next = () => ++count;

/** Repeats `turn` until the signal; a turn that fails is followed by a breath, so that a dead daemon is not hammered. */
async function repeat(ledger: Ledger, stop: AbortSignal, turn: () => Promise<void>): Promise<void> {
  while (!stop.aborted) {
    try {
      await turn();
      ledger.answered += 1;
    } catch {
      ledger.failed += 1;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** The result of an answer. Throws when it is a failure, and writes down one that is a fault of the product. */
function resultOf(
  ledger: Ledger,
  what: string,
  answer: { error?: { code: string; message: string } | undefined; result: Record<string, unknown> },
): Record<string, unknown> {
  if (answer.error === undefined) return answer.result;
  if (faultyCodes.has(answer.error.code)) ledger.unexpected.push(`${what}: ${answer.error.message}`);
  throw new Error(answer.error.code);
}

const testcase = (name: string, ms: number) => ({
  name,
  blocks: [
    { id: "start", type: "start" },
    { id: "wait", type: "sleep", duration_ms: ms },
    { id: "check", type: "verification", command: "text_visible", params: { text: "Welcome home" } },
    { id: "done", type: "success" },
  ],
  edges: [
    { from: "start", to: "wait", on: "success" },
    { from: "wait", to: "check", on: "success" },
    { from: "check", to: "done", on: "success" },
  ],
});

const writeRows = (host: Host, ledger: Ledger, stop: AbortSignal) =>
  repeat(ledger, stop, async () => {
    const name = `row ${host.name} ${next()}`;
    const client = `rows/${host.name}`;
    resultOf(ledger, "save", await host.call("save_testcase", { testcase: testcase(name, 1) }, client));
    ledger.testcases.add(name);
    const event = { type: "faults.row", payload: { name } };
    const { event_id: id } = resultOf(ledger, "event", await host.call("publish_event", event, client));
    if (typeof id === "number") ledger.events.add(id);
  });

/** Takes a box for the time of a run, so that its lease ends with it, or soon after whoever held it. */
const runOnBox = (host: Host, ledger: Ledger, stop: AbortSignal, asked: Asked) =>
  repeat(ledger, stop, async () => {
    const call = async (tool: string, args: Record<string, unknown>) =>
      resultOf(ledger, tool, await host.call(tool, args, `${asked.tool}/${host.name}`));
    const { session_id } = await call("take_control", { device_id: asked.device });
    await asked.before?.(call);
    const run = await call(asked.tool, { ...asked.args, session_id, wait_ms: 20_000 });
    if (run.status !== "running" && run.status !== "queued")
      ledger.runs.set(String(run.execution_id), String(run.status));
    await call("release_control", { session_id });
  });

type Call = (tool: string, args: Record<string, unknown>) => Promise<Record<string, unknown>>;
type Asked = {
  tool: string;
  device: string;
  args: Record<string, unknown>;
  before?(call: Call): Promise<unknown>;
};

function runTests(host: Host, ledger: Ledger, stop: AbortSignal): Promise<void> {
  const name = `run of ${host.name}`;
  return runOnBox(host, ledger, stop, {
    tool: "execute_testcase",
    device: "box",
    args: { testcase: name },
    before: (call) => call("save_testcase", { testcase: testcase(name, 300) }),
  });
}

const runScripts = (host: Host, ledger: Ledger, stop: AbortSignal) =>
  runOnBox(host, ledger, stop, { tool: "execute_script", device: "desk", args: { script: "sleeper.py" } });

/** Takes a browser through a bridge, presses there, and gives it back. */
function drive(
  world: World,
  bridge: Bridge,
  device: string,
  ledger: Ledger,
  stop: AbortSignal,
): Promise<void> {
  const call = async (tool: string, args: Record<string, unknown>) => {
    const { error, structured } = await bridge.call(tool, args);
    return resultOf(ledger, tool, { error, result: structured });
  };
  return repeat(ledger, stop, async () => {
    const who = `driver-${next()}`;
    try {
      const { session_id } = await call("take_control", { device_id: device });
      const from = performance.now();
      await call("execute_device_action", { session_id, actions: pressActions(world.site.url, device, who) });
      ledger.holds.push({ device, who, from, to: performance.now() });
      await call("release_control", { session_id });
    } catch (error) {
      // A host starts a bridge again that died.
      if (!isAlive(bridge.pid)) await bridge.renew();
      throw error;
    }
  });
}

const ask = (host: Host, ledger: Ledger, stop: AbortSignal) =>
  repeat(ledger, stop, async () => {
    const request = `agent-${next()}: press on ${host.browsers.join(", ")}`;
    const { code } = await host.programs.start("ask", ["--skill", "control-device", request], host.env).ended;
    if (code !== 0) throw new Error(`ask ended with ${code}`);
  });

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Everybody at work until the signal: writers and runners of each host, a driver for each browser, and the agent. */
export async function work(
  world: World,
  bridges: ReadonlyMap<string, Bridge>,
  ledger: Ledger,
  stop: AbortSignal,
) {
  const [first] = world.hosts;
  await Promise.all([
    ...world.hosts.flatMap((host) => [
      writeRows(host, ledger, stop),
      runTests(host, ledger, stop),
      runScripts(host, ledger, stop),
    ]),
    ...[...bridges].map(([device, bridge]) => drive(world, bridge, device, ledger, stop)),
    ...(first ? [ask(first, ledger, stop)] : []),
  ]);
}
