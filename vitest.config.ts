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
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
