import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const mcpb = join(root, "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js");
const folder = mkdtempSync(join(tmpdir(), "labwright-mcpb-test-"));
const unpacked = join(folder, "unpacked");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifestSchema = z.object({
  tools: z.array(z.object({ name: z.string() })),
  server: z.object({
    entry_point: z.string(),
    mcp_config: z.object({
      command: z.literal("node"),
      args: z.array(z.string()),
      env: z.record(z.string(), z.string()),
    }),
  }),
  user_config: z.record(z.string(), z.object({ default: z.string() })),
  icon: z.literal("icon.png"),
  version: z.string(),
  compatibility: z.object({ platforms: z.tuple([z.literal(process.platform)]) }),
});
let manifest: z.output<typeof manifestSchema>;

describe("the bundle for Claude Desktop", () => {
  beforeAll(() => {
    // The script has the format's own validator check the manifest, and fails with it.
    execFileSync(process.execPath, [join(root, "mcp-server/mcpb.mjs"), folder], { stdio: "ignore" });
    const file = readdirSync(folder).find((name) => name.endsWith(".mcpb")) ?? "";
    process.stdout.write(`${file}: ${Math.round(statSync(join(folder, file)).size / 1e6)} MB\n`);
    execFileSync(process.execPath, [mcpb, "unpack", join(folder, file), unpacked], { stdio: "ignore" });
    manifest = manifestSchema.parse(JSON.parse(readFileSync(join(unpacked, "manifest.json"), "utf8")));
  });

  it("starts from its own folder, lists what its manifest lists, and runs a call", async () => {
    const client = new Client({ name: "desktop", version: "1" });
    await client.connect(new StdioClientTransport(command()));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(manifest.tools.map(({ name }) => name));
    const called = await client.callTool({ name: "list_hosts", arguments: {} }, { timeout: 120_000 });
    expect(called.isError, JSON.stringify(called.content)).not.toBe(true);
    await client.close();
    const daemon = z
      .object({ pid: z.int() })
      .parse(JSON.parse(readFileSync(join(folder, "data/daemon.json"), "utf8")));
    process.kill(daemon.pid, "SIGTERM");
    await expect.poll(() => isThere(daemon.pid), { timeout: 60_000 }).toBe(false);
  });

  /** As the host fills it in: its own folder, and what the user was asked. */
  function command() {
    const given: Record<string, string> = { data_dir: join(folder, "data") };
    const filled = (text: string) =>
      text
        .replace(/\$\{__dirname\}/, unpacked)
        .replace(
          /\$\{user_config\.(\w+)\}/,
          (_, key) => given[key] ?? manifest.user_config[key]?.default ?? "",
        );
    const { args, env } = manifest.server.mcp_config;
    return {
      command: process.execPath,
      args: args.map(filled),
      env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, filled(text)])),
      cwd: tmpdir(),
      stderr: "inherit" as const,
    };
  }
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
