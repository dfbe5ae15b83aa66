import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
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

const exec = promisify(execFile);
const npm = async (cwd: string, ...args: string[]) => exec("npm", args, { cwd, env: npmEnv });
const labwright = async (...args: string[]) =>
  (await exec(program, args, { cwd: project, env: environment })).stdout;

beforeAll(async () => {
  mkdirSync(project);
  // What the set-up has built; `npm pack` alone builds it anew.
  const { stdout } = await npm(root, "pack", "--ignore-scripts", "--json", "--pack-destination", folder);
  const [{ filename }] = z.tuple([z.object({ filename: z.string() })]).parse(JSON.parse(stdout));
  writeFileSync(join(project, "package.json"), "{}");
  const words = await npm(project, "install", "--prefer-offline", join(folder, filename));
  installed = words.stdout + words.stderr;
});
afterAll(async () => {
  await labwright("stop");
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

it("runs a test case to its verdict, and doctor finds nothing missing", async () => {
  const server = createServer((_, response) => void response.end("<title>Packed</title><h1>It runs</h1>"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${z.object({ port: z.int() }).parse(server.address()).port}/`;
  const blocks = [
    { id: "start", type: "start" },
    { id: "open", type: "action", command: "navigate_to_url", params: { url } },
    { id: "seen", type: "verification", command: "text_visible", params: { text: "It runs" } },
    { id: "done", type: "success" },
  ];
  const edges = [
    { from: "start", to: "open" },
    { from: "open", to: "seen" },
    { from: "seen", to: "done" },
  ];
  writeFileSync(join(project, "runs.yaml"), JSON.stringify({ name: "it runs", blocks, edges }));
  expect(await labwright("run", "runs.yaml")).toMatch(/^passed +it runs/m);
  expect(await labwright("doctor")).toContain("Nothing is missing.");
  server.close();
});

it("serves as the container does: the daemon in the foreground, and its health by status", async () => {
  const env = { ...environment, LABWRIGHT_DATA_DIR: join(folder, "served"), LABWRIGHT_PORT: "0" };
  const started = spawn(program, ["serve"], { cwd: project, env, stdio: "ignore" });
  try {
    const healthy = () => exec(program, ["status"], { env }).then(({ stdout }) => stdout);
    await expect.poll(healthy, { timeout: 60_000 }).toContain("status: healthy");
  } finally {
    started.kill("SIGTERM");
    await once(started, "exit");
  }
  await expect(exec(program, ["status"], { env })).rejects.toMatchObject({ code: 1 });
});
