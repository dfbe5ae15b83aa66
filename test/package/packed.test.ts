import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "labwright-packed-"));
const project = join(folder, "project");
const program = join(project, "node_modules/.bin/labwright");
const environment = { PATH: process.env.PATH ?? "", HOME: folder, LABWRIGHT_DATA_DIR: join(folder, "data") };
const npmEnv = { ...process.env, npm_config_audit: "false", npm_config_fund: "false" };
/** npm's own words, warnings on stderr included. */
let installed = "";
let filename = "";
let url = "";
const server = createServer((_, response) => void response.end("<title>Packed</title><h1>It runs</h1>"));

const exec = promisify(execFile);
const npm = async (cwd: string, ...args: string[]) => exec("npm", args, { cwd, env: npmEnv });
const labwright = async (...args: string[]) =>
  (await exec(program, args, { cwd: project, env: environment })).stdout;

beforeAll(async () => {
  mkdirSync(project);
  // What the set-up has built; `npm pack` alone builds it anew.
  const { stdout } = await npm(root, "pack", "--ignore-scripts", "--json", "--pack-destination", folder);
  const [packed] = z.tuple([z.object({ filename: z.string() })]).parse(JSON.parse(stdout));
  filename = packed.filename;
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${z.object({ port: z.int() }).parse(server.address()).port}/`;
  writeFileSync(join(project, "package.json"), "{}");
  const words = await npm(project, "install", "--prefer-offline", join(folder, filename));
  installed = words.stdout + words.stderr;
});
afterAll(async () => {
  await labwright("stop");
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

it("installs without a word about the engine, and says its version", async () => {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
  expect(installed).not.toContain("EBADENGINE");
  expect((await labwright("--version")).trim()).toBe(version);
});

it("lists its tools to a host that starts what `install json` prints, outside of its folder", async () => {
  const entry = z
    .object({
      mcpServers: z.object({ labwright: z.object({ command: z.string(), args: z.array(z.string()) }) }),
    })
    .parse(JSON.parse(await labwright("install", "json")));
  const { command, args } = entry.mcpServers.labwright;
  expect(args.join(" ")).toContain(join(project, "node_modules/labwright"));
  const client = new Client({ name: "host", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, env: environment, cwd: tmpdir() }));
  expect((await client.listTools()).tools.length).toBeGreaterThan(70);
  await client.close();
});

it("init and run end in a verdict, and doctor finds nothing missing", async () => {
  await labwright("init", url);
  const ran = await labwright("run", "labwright");
  expect(ran).toMatch(/^passed +127\.0\.0\.1 opens/m);
  const app = readFileSync(join(project, "labwright/apps/127.0.0.1.yaml"), "utf8");
  const schema = /\$schema=(\S+)/.exec(app)?.[1] ?? "";
  expect(existsSync(join(project, "labwright/apps", schema))).toBe(true);
  expect(await labwright("doctor")).toContain("Nothing is missing.");
});

/** The lines of a shell that a recipe for CI runs. */
function linesOf(recipe: string): string[] {
  const { jobs, labwright: job } = parse(readFileSync(join(root, "docs/ci", recipe), "utf8"));
  const steps: { run?: string }[] = jobs?.test.steps ?? job.script.map((line: string) => ({ run: line }));
  return steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
}

it.each([
  "github-actions.yml",
  "gitlab-ci.yml",
])("the commands of %s pass in a repository with tests", async (recipe) => {
  const repository = join(folder, recipe);
  cpSync(join(project, "labwright"), join(repository, "labwright"), { recursive: true });
  cpSync(join(folder, filename), join(repository, filename));
  writeFileSync(join(repository, "package.json"), "{}");
  const env = { ...npmEnv, ...environment, CI_NODE_INDEX: "1", CI_NODE_TOTAL: "1" };
  const lines = linesOf(recipe);
  expect(lines).toHaveLength(3);
  for (const line of lines)
    await exec("sh", ["-c", line.replace(/\$\{\{ matrix\.shard \}\}/, "1/1")], { cwd: repository, env });
  expect(readFileSync(join(repository, "reports/junit.xml"), "utf8")).toContain('tests="1"');
});

it("serves as the container does: the daemon in the foreground, and its health by status", async () => {
  const env = { ...environment, LABWRIGHT_DATA_DIR: join(folder, "served"), LABWRIGHT_PORT: "0" };
  const started = spawn(program, ["serve"], { cwd: project, env, stdio: "ignore" });
  try {
    const healthy = () => exec(program, ["status"], { env }).then(({ stdout }) => stdout);
    await expect.poll(healthy, { timeout: 60_000 }).toMatch(/^status +healthy$/m);
  } finally {
    started.kill("SIGTERM");
    await once(started, "exit");
  }
  await expect(exec(program, ["status"], { env })).rejects.toMatchObject({ code: 1 });
});
