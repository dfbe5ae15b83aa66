import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judge, newerNode } from "./conformance/run.ts";
import { startConformanceServer } from "./conformance/server.ts";

const baseline = (name: string) => [
  "--expected-failures",
  fileURLToPath(new URL(`conformance/${name}.yml`, import.meta.url)),
];

let server: Awaited<ReturnType<typeof startConformanceServer>>;
const folder = mkdtempSync(join(tmpdir(), "labwright-conformance-"));
beforeAll(async () => {
  server = await startConformanceServer();
});
afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true, force: true });
});

// Only on a machine of one's own may a part be missing.
describe.skipIf(newerNode() === undefined && process.env.CI !== "true")("MCP's conformance suite", () => {
  it.each([
    ["2025", "all of 0.1.16", ["--suite", "all", ...baseline("2025-11-25")]],
    ["2026", "what 2025-11-25 requires", ["--requirements", "2025-11-25", ...baseline("2025-11-25")]],
    ["2026", "what 2026-07-28 requires", ["--requirements", "2026-07-28", ...baseline("2026-07-28")]],
    ["2026", "listed skills", ["--scenario", "sep-2640-skills-enumeration"]],
    ["2026", "a skill's files", ["--scenario", "sep-2640-skills-manifest"]],
    ["2026", "a skill's folders", ["--scenario", "sep-2640-skills-directory"]],
  ] as const)("of %s passes: %s", async (version, what, args) => {
    const { exitCode, passed, failed, output } = await judge(version, server.url, args, folder);
    process.stdout.write(
      `Conformance ${version}, ${what}: ${passed} checks passed, ${failed} do not apply\n`,
    );
    expect(exitCode, output).toBe(0);
    expect(passed).toBeGreaterThan(0);
  });

  it("fails a server that breaks a rule", async () => {
    // Without the baseline, what does not apply counts as broken.
    const { exitCode } = await judge("2025", server.url, ["--scenario", "logging-set-level"], folder);
    expect(exitCode).not.toBe(0);
  });
});
