import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { alternate, median, ratiosOf, timed } from "./statistics.ts";

const tests = 200;
const options = { rounds: 3, warmUps: 0 };
const run = promisify(execFile);

/** A test of a page as real ones are: what it shows comes a moment after it. */
const testOf = (index: number, url: string) => ({
  name: `order ${index}`,
  blocks: [
    { id: "start", type: "start" },
    { id: "open", type: "action", command: "navigate_to_url", params: { url: `${url}?order=${index}` } },
    { id: "look", type: "verification", command: "text_visible", params: { text: `Order ${index} is sent` } },
    { id: "done", type: "success" },
  ],
  edges: [
    { from: "start", to: "open" },
    { from: "open", to: "look" },
    { from: "look", to: "done" },
  ],
});

/** 200 tests by `labwright run` with four workers, next to the same with one (theirs), on one daemon. */
export async function measureWorkers(
  sides: Sides,
  url: (path: string) => string,
  note: (line: string) => void,
): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  // The browser that a user gets: of those without a window, the one that draws none.
  const config = await sides.newConfig({
    devices: [{ name: "browser", model: "web", controllers: { web: { headless: true } } }],
  });
  const server = sides.ours(dataDir, { config });
  const labwright = join(sides.root, "mcp-server", "bin", "labwright.js");
  const withWorkers = async (workers: number): Promise<number> => {
    const args = ["run", "--data-dir", dataDir, "--config", config, "--workers", String(workers)];
    const { ms, result } = await timed(() => run(process.execPath, [labwright, ...args]));
    if (!result.stdout.includes(`\n${tests} runs: ${tests} passed`))
      throw new Error(`The tests did not all pass: ${result.stdout.slice(-400)}`);
    const used = result.stderr.trim();
    if (workers > 1 && !used.startsWith(`${workers} workers: `)) throw new Error(used);
    return ms;
  };
  try {
    await server.initialize();
    for (let index = 0; index < tests; index++)
      await server.call("save_testcase", { testcase: testOf(index, url("/sent")) });
    await server.end();
    const [ours = [], theirs = []] = await alternate([() => withWorkers(4), () => withWorkers(1)], options);
    const each = Math.round(median(theirs) / tests);
    note(
      `workers: a test takes ${each} ms with one worker; starting and closing the browsers are part of both.`,
    );
    const ratios = ratiosOf(ours, theirs);
    return [{ id: "workers.four", ours: median(ours), theirs: median(theirs), runs: ours.length, ratios }];
  } finally {
    await server.end();
    await sides.stopDaemon(dataDir);
  }
}
