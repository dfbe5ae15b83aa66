import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { scriptsForVitest } from "./mcp-server/bundleScript.mjs";
import { CountReporter } from "./test/countReporter.ts";

/**
 * What a file says that starts or counts processes, or changes what the files in one process share. Such a file has a process
 * of its own. The others follow each other in a few processes, which load the product once: loading it costs more than most
 * tests.
 */
const aloneWords =
  /"node:child_process"|\/(processes|daemon|daemonProcess|program)\.ts"|vi\.(mock|spyOn|stub\w+|use\w+)\(|process\.(env|on|memoryUsage)\b/;
const isAlone = (file: string) => aloneWords.test(readFileSync(file, "utf8"));
/** `test/out` is not looked into: other programs write there meanwhile. */
const allFiles = readdirSync("test", { withFileTypes: true })
  .filter(({ name }) => name !== "out")
  .flatMap((entry) => {
    const path = join("test", entry.name);
    if (!entry.isDirectory()) return [path];
    return readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name));
  })
  .filter((path) => path.endsWith(".test.ts"));
/** Drive real programs, which the rest would keep from the cores and the ports that they need. */
const deviceFiles = allFiles.filter((file) => file.startsWith(join("test", "devices")));
const testFiles = allFiles.filter((file) => !deviceFiles.includes(file));

/** Tests of whole processes take longest: begun last, they would keep one worker busy while the others have ended. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) =>
      /\/test\/(e2e|interop|page|server)\//.test(moduleId) ? 0 : Number(project.name === "shared") + 1;
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

const project = (
  name: string,
  { include, isolate }: { include: string[]; isolate: boolean },
  order: { maxWorkers?: number; sequence?: { groupOrder: number } } = {},
): TestProjectInlineConfiguration => ({
  // A condition of our own: "source" is one that packages of others have too (eventsource ships TypeScript under it).
  plugins: [scriptsForVitest],
  resolve: { conditions: ["labwright"], tsconfigPaths: true },
  ssr: { resolve: { conditions: ["labwright", "node"] } },
  test: {
    name,
    isolate,
    include,
    ...order,
    // A machine that does other work can be late for a test of real processes. What passed only then is named at the end.
    retry: 1,
    // No test meets the phones of whoever runs it: no adb server has this port.
    // Their pages are our own, and containers often have no sandbox for browsers.
    env: { ANDROID_ADB_SERVER_PORT: "1", LABWRIGHT_BROWSER_SANDBOX: "optional" },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
  },
});

/** Seed 002's agent, its registry of tools, and its factory: what a task needs, and the tools and prompt for it. */
const leastCovered = {
  "agent-client/src/planExecute/*.ts": { lines: 80 },
  "mcp-server/src/registry/*.ts": { lines: 90 },
  "agent-client/src/{planner,agents}/*.ts": { lines: 75 },
};

export default defineConfig({
  // For `globalSetup`: the projects have their own.
  resolve: { tsconfigPaths: true },
  test: {
    projects: [
      project("alone", { include: testFiles.filter(isAlone), isolate: true }),
      project("shared", { include: testFiles.filter((file) => !isAlone(file)), isolate: false }),
      // Two files at a time, after the rest: they wait for pictures more than they compute.
      project(
        "devices",
        { include: deviceFiles, isolate: true },
        { maxWorkers: 2, sequence: { groupOrder: 1 } },
      ),
    ],
    globalSetup: "test/globalSetup.ts",
    // Least percentages from seed 002, of what `npm run coverage` runs.
    coverage: {
      include: Object.keys(leastCovered),
      reporter: ["text-summary"],
      reportsDirectory: "test/out/coverage",
      thresholds: leastCovered,
    },
    reporters: ["default", new CountReporter()],
    // A file waits half of its time for browsers and processes: with one more than there are cores, a core idled for a tenth.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
  },
});
