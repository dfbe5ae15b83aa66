import { defineConfig } from "@playwright/test";

const apps: Record<string, string> = JSON.parse(process.env.FLOW_APPS ?? "{}");

// One test at a time, as the other side runs them.
export default defineConfig({
  workers: 1,
  reporter: "list",
  outputDir: process.env.FLOW_OUTPUT ?? "out",
  use: { launchOptions: JSON.parse(process.env.FLOW_BROWSER ?? "{}") },
  projects: Object.entries(apps).map(([name, baseURL]) => ({
    name,
    testDir: name,
    use: { baseURL },
  })),
});
