import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { CountReporter } from "./test/countReporter.ts";

/** Tests of whole processes take longest: begun last, they would keep one worker busy while the others have ended. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => /\/test\/(e2e|interop|server)\//.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  // A condition of our own: "source" is one that packages of others have too (eventsource ships TypeScript under it).
  resolve: { conditions: ["labwright"] },
  ssr: { resolve: { conditions: ["labwright", "node"] } },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/globalSetup.ts",
    reporters: ["default", new CountReporter()],
    // A machine that does other work can be late for a test of real processes. What passed only then is named at the end.
    retry: process.env.CI === "true" ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    // A file waits half of its time for browsers and processes, so one more than there are cores keeps them busy.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
  },
});
