import { defineConfig } from "vitest/config";
import { CountReporter } from "./test/countReporter.ts";

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
    maxWorkers: 2,
  },
});
