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
import { type Host, hosts } from "#mcp-server/cli/hosts/hosts.ts";
import { thisMachine } from "#mcp-server/cli/hosts/machine.ts";
import { tomlFormat } from "#mcp-server/cli/hosts/tomlFormat.ts";
import { listenOnLoopback } from "../fixtures/loopback.ts";
import { install, npmEnv, packInto, programIn } from "../fixtures/packed.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "labwright-packed-"));
const project = join(folder, "project");
const program = programIn(project, "labwright");
const environment = { PATH: process.env.PATH ?? "", HOME: folder, LABWRIGHT_DATA_DIR: join(folder, "data") };
/** npm's own words, warnings on stderr included. */
let installed = "";
let filename = "";
let url = "";
const server = createServer((_, response) => void response.end("<title>Packed</title><h1>It runs</h1>"));

const exec = promisify(execFile);
const labwright = async (...args: string[]) =>
  (await exec(program, args, { cwd: project, env: environment })).stdout;

beforeAll(async () => {
  mkdirSync(project);
  filename = await packInto(folder, root);
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/`;
  writeFileSync(join(project, "package.json"), "{}");
  const words = await install(project, join(folder, filename));
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

/** What the host starts, by its own file. */
async function startedBy({ name, user, dialect }: Host): Promise<unknown> {
  const [place] = user(thisMachine(environment, project)).slice(-1);
  if (place === undefined) throw new Error(`${name} has no file`);
  mkdirSync(place.folder, { recursive: true });
  await labwright("install", name);
  const text = readFileSync(place.file, "utf8");
  const { [dialect.container]: servers } = z
    .record(z.string(), z.record(z.string(), z.record(z.string(), z.unknown())))
    .parse(dialect.format === "toml" ? tomlFormat.parse(text) : parse(text));
  const { [dialect.program]: command, args } = servers?.labwright ?? {};
  return { command, args };
}

it("lists its tools to a host that starts what `install` writes or prints, outside of its folder", async () => {
  const entry = z
    .object({
      mcpServers: z.object({ labwright: z.object({ command: z.string(), args: z.array(z.string()) }) }),
    })
    .parse(JSON.parse(await labwright("install", "json")));
  const { command, args } = entry.mcpServers.labwright;
  for (const host of hosts) expect(await startedBy(host), host.name).toEqual({ command, args });
  expect(args.join(" ")).toContain(join(project, "node_modules/labwright"));
  const client = new Client({ name: "host", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, env: environment, cwd: tmpdir() }));
  expect((await client.listTools()).tools.length).toBeGreaterThan(70);
  await client.close();
});

it("init and run end in a verdict, and doctor finds nothing missing", async () => {
  await labwright("init", url);
  const ran = await labwright("run", "labwright");
  expect(ran).toMatch(/^passed +127\.0\.0\.1-\d+ opens/m);
  const app = `127.0.0.1-${new URL(url).port}`;
  await labwright("export", app, "--out", "exported/app.yaml");
  for (const file of [`labwright/apps/${app}.yaml`, "exported/app.yaml"]) {
    const schema = /\$schema=(\S+)/.exec(readFileSync(join(project, file), "utf8"))?.[1] ?? "no schema";
    expect(existsSync(join(project, file, "..", schema)), file).toBe(true);
  }
  expect(await labwright("doctor")).toContain("Nothing is missing.");
});

it("the README's way to the first verdict, word by word in an empty folder", async () => {
  const [, part = ""] = readFileSync(join(root, "README.md"), "utf8").split("## First verdict\n");
  const [, block = ""] = part.split(/```(?:sh\n)?/);
  const lines = block.trim().split("\n");
  expect(lines.at(-1)).toContain("npx labwright run");
  const empty = join(folder, "readme");
  mkdirSync(empty);
  cpSync(join(folder, filename), join(empty, filename));
  const env = { ...npmEnv(), ...environment };
  const printed: string[] = [];
  for (const line of lines)
    printed.push(
      (await exec("sh", ["-c", line.replace("http://localhost:3000", url)], { cwd: empty, env })).stdout,
    );
  expect(printed.at(-1)).toMatch(/^passed +127\.0\.0\.1-\d+ opens/m);
  expect(existsSync(join(empty, "reports/report.html"))).toBe(true);
});

/** The lines of a shell that a recipe for CI runs, and its variables. GitHub's runners are not root. */
function readRecipe(recipe: string): { lines: string[]; variables: Record<string, string> } {
  const { jobs, labwright: job } = parse(readFileSync(join(root, "docs/ci", recipe), "utf8"));
  const steps: { run?: string }[] = jobs?.test.steps ?? job.script.map((line: string) => ({ run: line }));
  const { LABWRIGHT_BROWSER_SANDBOX = "" } = jobs ? process.env : {};
  return {
    lines: steps.flatMap(({ run }) => (run === undefined ? [] : [run])),
    variables: jobs ? { LABWRIGHT_BROWSER_SANDBOX } : job.variables,
  };
}

it.each([
  "github-actions.yml",
  "gitlab-ci.yml",
])("the commands of %s pass in a repository with tests", async (recipe) => {
  const repository = join(folder, recipe);
  cpSync(join(project, "labwright"), join(repository, "labwright"), { recursive: true });
  cpSync(join(folder, filename), join(repository, filename));
  writeFileSync(join(repository, "package.json"), "{}");
  const { lines, variables } = readRecipe(recipe);
  const env = { ...npmEnv(), ...environment, ...variables, CI_NODE_INDEX: "1", CI_NODE_TOTAL: "1" };
  expect(lines).toHaveLength(3);
  for (const line of lines)
    await exec("sh", ["-c", line.replace(/\$\{\{ matrix\.shard \}\}/, "1/1")], { cwd: repository, env });
  expect(readFileSync(join(repository, "reports/junit.xml"), "utf8")).toContain('tests="1"');
});

it.each(["android", "tv"])("says where the demo on %s is", async (device) => {
  await expect(labwright("demo", "--device", device)).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`npm run demo -- --device ${device}`),
  });
});

it("serves as the container does: the daemon in the foreground, and its health by status", async () => {
  const env = { ...environment, LABWRIGHT_DATA_DIR: join(folder, "served"), LABWRIGHT_PORT: "0" };
  const started = spawn(program, ["serve"], { cwd: tmpdir(), env, stdio: "ignore" });
  try {
    const healthy = () => exec(program, ["status"], { env }).then(({ stdout }) => stdout);
    await expect.poll(healthy, { timeout: 60_000 }).toMatch(/^status +healthy$/m);
  } finally {
    started.kill("SIGTERM");
    await once(started, "exit");
  }
  await expect(exec(program, ["status"], { env })).rejects.toMatchObject({ code: 1 });
});
