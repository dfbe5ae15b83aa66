import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
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

const reportSchema = z.object({
  modules: z.array(
    z.object({ source: z.string(), dependencies: z.array(z.object({ resolved: z.string() })) }),
  ),
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), rule: z.object({ name: z.string() }) })),
    ruleSetUsed: z.object({
      forbidden: z.array(z.object({ name: z.string(), to: z.object({ pathNot: z.unknown().optional() }) })),
    }),
  }),
});

/** One violation of each kind of rule: the rule that must catch it, the file and what it imports. */
const plants: [rule: string, file: string, imported: string][] = [
  ["no cycles", "skills/src/loopA.ts", "./loopB.ts"],
  ["only declared packages", "skills/src/undeclared.ts", "no-such-package-anywhere"],
  ["tests import doors or #aliases", "test/deepImport.ts", "../skills/src/inner.ts"],
  ["nothing imports tests", "skills/src/testImport.ts", "../../test/planted.ts"],
  ["nothing loose", "mcp-server/src/services/loose.ts", "./index.ts"],
  ["nothing loose", "controllers/src/loose.ts", "./contract.ts"],
  ["room skills/", "skills/src/planted.ts", "../../controllers/src/index.ts"],
  ["room agent-client/", "agent-client/src/planted.ts", "../../skills/src/inner.ts"],
  ["room controllers/src/elements/", "controllers/src/elements/planted.ts", "../web/inner.ts"],
  ["room controllers/src/web/page/agent/", "controllers/src/web/page/agent/planted.ts", "../inner.ts"],
  [
    "room mcp-server/src/services/apps/steps/",
    "mcp-server/src/services/apps/steps/planted.ts",
    "../files/inner.ts",
  ],
  ["package sharp", "controllers/src/android/picture.ts", "sharp"],
  ["package @modelcontextprotocol", "mcp-server/src/tools/sdk.ts", "@modelcontextprotocol/server"],
];
/** What the planted files import. */
const innocent = [
  "skills/src/index.ts",
  "skills/src/inner.ts",
  "controllers/src/index.ts",
  "controllers/src/contract.ts",
  "controllers/src/web/inner.ts",
  "controllers/src/web/page/inner.ts",
  "mcp-server/src/services/index.ts",
  "mcp-server/src/services/apps/files/inner.ts",
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
  // The READMEs, and what they name, as they are.
  const { stdout } = await run("git", ["ls-files", ...workspaces], { cwd: root });
  for (const file of stdout.split("\n").filter((name) => /README\.md$|\.ts$/.test(name)))
    await plant(file, file.endsWith(".md") ? await readFile(join(root, file), "utf8") : "export {};\n");
  for (const file of innocent) await plant(file, "export const here = 1;\n");
  for (const [, file, imported] of plants)
    await plant(file, `import * as other from "${imported}";\nexport const seen = other;\n`);
  await plant("skills/src/loopB.ts", 'export * from "./loopA.ts";\n');
  await symlink(join(root, "node_modules"), join(planted, "node_modules"));
  for (const workspace of workspaces) await plant(`${workspace}/package.json`, '{"dependencies":{}}');
});
async function plant(file: string, text: string) {
  await mkdir(dirname(join(planted, file)), { recursive: true });
  await writeFile(join(planted, file), text);
}
afterAll(() => rm(planted, { recursive: true, force: true }));

test("a violation of each kind is caught by its rule", async () => {
  const { summary } = await cruise(planted);
  const caught = new Set(summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`));
  expect(
    plants.map(([rule, file]) => `${rule}: ${file}`).filter((expected) => !caught.has(expected)),
  ).toEqual([]);
});

test("a README that names what does not exist is an error", async () => {
  const readme = join(planted, "skills/README.md");
  const text = await readFile(readme, "utf8");
  await writeFile(readme, text.replace("May import: nothing.", "May import: `../no-such-folder/`."));
  const failed = await run(join(root, "node_modules/.bin/depcruise"), ["--config", configFile, "skills"], {
    cwd: planted,
  }).catch((error: { stderr: string }) => error);
  await writeFile(readme, text);
  expect(failed.stderr).toContain(
    'skills/README.md: "May import" names no-such-folder/, which does not exist',
  );
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

  // What a README allows and no file imports would let a wrong import in.
  const unused = summary.ruleSetUsed.forbidden
    .filter(({ name }) => name.startsWith("room "))
    .flatMap(({ name, to }) => {
      const [, ...allowed] = z.array(z.string()).parse([to.pathNot].flat());
      const imported = modules
        .filter(({ source }) => source.startsWith(name.slice("room ".length)))
        .flatMap(({ dependencies }) => dependencies.map(({ resolved }) => resolved));
      return allowed
        .filter((path) => !imported.some((file) => new RegExp(path).test(file)))
        .map((path) => `${name}: ${path}`);
    });
  expect(unused).toEqual([]);
});

test("no timeout is known to AbortSignal.any alone, where Node may collect it before it aborts", async () => {
  const folders = workspaces.filter((name) => name !== "test").map((name) => join(name, "src"));
  const found = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(root, folder), { recursive: true })).map((name) => join(folder, name)),
    ),
  );
  const files = found.flat().filter((name) => name.endsWith(".ts"));
  expect(files.length).toBeGreaterThan(900);
  const texts = await Promise.all(
    files.map(async (file) => ({ file, text: await readFile(join(root, file), "utf8") })),
  );
  const joined = texts.filter(({ text }) => /AbortSignal\.any\(\[[^\]]*AbortSignal\.timeout/.test(text));
  // A command that ends by itself and loads no drivers; its fetch holds the signal.
  expect(joined.map(({ file }) => file)).toEqual(["mcp-server/src/cli/commands/control.ts"]);
});
