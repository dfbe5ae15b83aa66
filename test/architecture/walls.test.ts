import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const configFile = join(root, ".dependency-cruiser.cjs");
const workspaces = ["controllers", "skills", "mcp-server", "agent-client", "test"];

const ruleSet = z
  .object({ forbidden: z.array(z.object({ name: z.string() })) })
  .parse(createRequire(import.meta.url)(configFile));
const reportSchema = z.object({
  modules: z.array(z.object({ source: z.string() })),
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});

/** For each rule, a file that breaks it: where it stands and what it imports. */
const plants: Record<string, [file: string, imported: string]> = {
  "no cycles": ["skills/src/loopA.ts", "./loopB.ts"],
  "only declared packages": ["skills/src/undeclared.ts", "no-such-package-anywhere"],
  "nothing imports tests": ["skills/src/testImport.ts", "../../test/planted.ts"],
  "room controllers/src/": ["controllers/src/planted.ts", "../../skills/src/index.ts"],
  "nothing loose in the hall of the controllers": ["controllers/src/loose.ts", "./contract.ts"],
  "room controllers/src/(contract|diagnosis|errors|factory|fence|ports|shapes|spaces).ts": [
    "controllers/src/factory.ts",
    "./elements/inner.ts",
  ],
  "room controllers/src/models.ts": ["controllers/src/models.ts", "./web/inner.ts"],
  "room controllers/src/portable.ts": ["controllers/src/portable.ts", "./web/inner.ts"],
  "room controllers/src/waiting/": ["controllers/src/waiting/planted.ts", "../elements/inner.ts"],
  "room controllers/src/programs/": ["controllers/src/programs/planted.ts", "../elements/inner.ts"],
  "room controllers/src/elements/": ["controllers/src/elements/planted.ts", "../portable.ts"],
  "room controllers/src/focus/": ["controllers/src/focus/planted.ts", "../web/inner.ts"],
  "room controllers/src/video/": ["controllers/src/video/planted.ts", "../web/inner.ts"],
  "room controllers/src/frames/": ["controllers/src/frames/planted.ts", "../web/inner.ts"],
  "room controllers/src/addons/": ["controllers/src/addons/planted.ts", "../portable.ts"],
  "room controllers/src/logs/": ["controllers/src/logs/planted.ts", "../web/inner.ts"],
  "room controllers/src/screens/": ["controllers/src/screens/planted.ts", "../web/inner.ts"],
  "room controllers/src/webviews/": ["controllers/src/webviews/planted.ts", "../web/inner.ts"],
  "room of each driver": ["controllers/src/phone/planted.ts", "../web/inner.ts"],
  "room controllers/src/web/page/agent/": ["controllers/src/web/page/agent/planted.ts", "../inner.ts"],
  "room controllers/src/web/page/": ["controllers/src/web/page/planted.ts", "../inner.ts"],
  "room controllers/src/web/browser/": ["controllers/src/web/browser/planted.ts", "../inner.ts"],
  "room controllers/src/web/acting/": ["controllers/src/web/acting/planted.ts", "../inner.ts"],
  "room controllers/src/web/checks/": ["controllers/src/web/checks/planted.ts", "../inner.ts"],
  "room controllers/src/web/commands/": ["controllers/src/web/commands/planted.ts", "../inner.ts"],
  "room controllers/src/web/ports/": ["controllers/src/web/ports/planted.ts", "../inner.ts"],
  "room controllers/lab/": ["controllers/lab/planted.ts", "../src/inner.ts"],
  "room test/lab/": ["test/lab/planted.ts", "../planted.ts"],
  "room test/lab/android/adbd/": ["test/lab/android/adbd/planted.ts", "../labUi.ts"],
  "room test/lab/android/userland/": ["test/lab/android/userland/planted.ts", "../ui/inner.ts"],
  "room test/lab/android/personas/": ["test/lab/android/personas/planted.ts", "../labUi.ts"],
  "room test/lab/android/ui/": ["test/lab/android/ui/planted.ts", "../uia2/inner.ts"],
  "room test/lab/android/webview/": ["test/lab/android/webview/planted.ts", "../ui/inner.ts"],
  "room test/lab/android/uia2/": ["test/lab/android/uia2/planted.ts", "../ui/inner.ts"],
  "room test/lab/ios/": ["test/lab/ios/planted.ts", "../android/adbd/planted.ts"],
  "room skills/src/": ["skills/src/planted.ts", "../../controllers/src/index.ts"],
  "room agent-client/src/": ["agent-client/src/planted.ts", "../../mcp-server/src/errors.ts"],
  "room mcp-server/src/domain/": ["mcp-server/src/domain/planted.ts", "../errors.ts"],
  "room mcp-server/src/errors.ts": ["mcp-server/src/errors.ts", "./domain/index.ts"],
  "room mcp-server/src/observability/": ["mcp-server/src/observability/planted.ts", "../domain/index.ts"],
  "room mcp-server/src/config": ["mcp-server/src/config.ts", "./services/index.ts"],
  "room mcp-server/src/storage/schema/": ["mcp-server/src/storage/schema/planted.ts", "../rows/inner.ts"],
  "room mcp-server/src/storage/engine/": ["mcp-server/src/storage/engine/planted.ts", "../rows/inner.ts"],
  "room mcp-server/src/storage/rows/": ["mcp-server/src/storage/rows/planted.ts", "../engine/inner.ts"],
  "room mcp-server/src/storage/": ["mcp-server/src/storage/planted.ts", "../services/index.ts"],
  "nothing loose in the hall": ["mcp-server/src/services/loose.ts", "./index.ts"],
  "files of apps stand above the rest": ["mcp-server/src/services/apps/below.ts", "./files/inner.ts"],
  "room mcp-server/src/services/(create|index).ts": [
    "mcp-server/src/services/create.ts",
    "../tools/index.ts",
  ],
  "room mcp-server/src/services/ports(.ts|/)": [
    "mcp-server/src/services/ports/planted.ts",
    "../policy/inner.ts",
  ],
  "room mcp-server/src/services/values/": ["mcp-server/src/services/values/planted.ts", "../policy/inner.ts"],
  "room mcp-server/src/services/policy/": [
    "mcp-server/src/services/policy/planted.ts",
    "../records/inner.ts",
  ],
  "room mcp-server/src/services/records/": [
    "mcp-server/src/services/records/planted.ts",
    "../devices/inner.ts",
  ],
  "room mcp-server/src/services/devices/": ["mcp-server/src/services/devices/planted.ts", "../apps/inner.ts"],
  "room mcp-server/src/services/apps/": ["mcp-server/src/services/apps/planted.ts", "../runs/inner.ts"],
  "room mcp-server/src/services/runs/": ["mcp-server/src/services/runs/planted.ts", "../lab/inner.ts"],
  "room mcp-server/src/services/lab/": ["mcp-server/src/services/lab/planted.ts", "../../tools/index.ts"],
  "room mcp-server/src/registry/": ["mcp-server/src/registry/planted.ts", "../services/lab/inner.ts"],
  "room mcp-server/src/tools/": ["mcp-server/src/tools/planted.ts", "../storage/planted.ts"],
  "room mcp-server/src/server/": ["mcp-server/src/server/planted.ts", "../tools/index.ts"],
  "room mcp-server/src/api/": ["mcp-server/src/api/planted.ts", "../tools/index.ts"],
  "only there @modelcontextprotocol": ["mcp-server/src/tools/sdk.ts", "@modelcontextprotocol/server"],
  "only there @devicefarmer": ["controllers/src/android/device.ts", "@devicefarmer/adbkit"],
  "only there sharp": ["controllers/src/web/picture.ts", "sharp"],
  "only there playwright-core": ["mcp-server/src/services/browser.ts", "playwright-core"],
  "only there (pg|drizzle-orm|@electric-sql)": ["mcp-server/src/services/sql.ts", "pg"],
  "only there (hono|@hono)": ["mcp-server/src/services/http.ts", "hono"],
  "room mcp-server/src/agents/": ["mcp-server/src/agents/planted.ts", "../tools/index.ts"],
  "only there (socket\\.io|jose)": ["agent-client/src/cli/socket.ts", "socket.io"],
  "only there @anthropic-ai": ["agent-client/src/cli/model.ts", "@anthropic-ai/sdk"],
};
const innocent = [
  "skills/src/index.ts",
  "controllers/src/index.ts",
  "controllers/src/contract.ts",
  "controllers/src/inner.ts",
  "controllers/src/elements/inner.ts",
  "controllers/src/web/inner.ts",
  "controllers/src/web/page/inner.ts",
  "test/lab/android/labUi.ts",
  "test/lab/android/ui/inner.ts",
  "test/lab/android/uia2/inner.ts",
  "mcp-server/src/domain/index.ts",
  "mcp-server/src/storage/engine/inner.ts",
  "mcp-server/src/storage/rows/inner.ts",
  "mcp-server/src/services/index.ts",
  "mcp-server/src/services/policy/inner.ts",
  "mcp-server/src/services/records/inner.ts",
  "mcp-server/src/services/devices/inner.ts",
  "mcp-server/src/services/apps/inner.ts",
  "mcp-server/src/services/apps/files/inner.ts",
  "mcp-server/src/services/runs/inner.ts",
  "mcp-server/src/services/lab/inner.ts",
  "mcp-server/src/tools/index.ts",
  "test/planted.ts",
];

async function cruise(folder: string) {
  const bin = join(root, "node_modules/.bin/depcruise");
  const args = ["--config", configFile, "--output-type", "json", ...workspaces];
  const { stdout } = await run(bin, args, { cwd: folder, maxBuffer: 2 ** 28 }).catch(
    (error: { stdout: string }) => error,
  );
  return reportSchema.parse(JSON.parse(stdout));
}

let planted: string;
beforeAll(async () => {
  planted = await mkdtemp(join(tmpdir(), "labwright-walls-"));
  const files = new Map<string, string>(innocent.map((file) => [file, "export const here = 1;\n"]));
  for (const [file, imported] of Object.values(plants))
    files.set(file, `import * as other from "${imported}";\nexport const seen = other;\n`);
  files.set("skills/src/loopB.ts", 'export * from "./loopA.ts";\n');
  for (const [file, text] of files) {
    await mkdir(dirname(join(planted, file)), { recursive: true });
    await writeFile(join(planted, file), text);
  }
  await symlink(join(root, "node_modules"), join(planted, "node_modules"));
  for (const workspace of workspaces) {
    await writeFile(join(planted, workspace, "package.json"), '{"dependencies":{}}');
  }
});
afterAll(() => rm(planted, { recursive: true, force: true }));

test("every rule has a planted violation", () => {
  expect(Object.keys(plants).toSorted()).toEqual(ruleSet.forbidden.map(({ name }) => name).toSorted());
});

test("every planted violation is caught by its rule", async () => {
  const { summary } = await cruise(planted);
  const caught = new Set(summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`));
  const expected = Object.entries(plants).map(([rule, [file]]) => `${rule}: ${file}`);
  expect(expected.filter((one) => !caught.has(one))).toEqual([]);
});

test("the house breaks no rule, and every source file was looked at", async () => {
  const [{ summary, modules }, listed] = await Promise.all([
    cruise(root),
    run("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...workspaces], { cwd: root }),
  ]);
  const sources = listed.stdout.split("\n").filter((file) => /\.(ts|mjs|js|cjs)$/.test(file));
  const seen = new Set(modules.map(({ source }) => source));
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.filter((file) => !seen.has(file))).toEqual([]);
  expect(summary.violations).toEqual([]);
});
