import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { type Bench, productBench } from "../fixtures/daemon.ts";
import { run } from "./fixtures.ts";

let bench: Bench;
beforeEach(() => {
  bench = productBench();
});
afterEach(() => bench.end());

const fileSchema = z.object({
  mcpServers: z.object({
    labwright: z.object({
      type: z.literal("stdio"),
      command: z.string(),
      args: z.array(z.string()),
      env: z.record(z.string(), z.string()),
    }),
  }),
});

/** What a host does with its file: it starts the command with the variables named there, and few of its own. */
it("writes a command that starts the bridge of this installation", { timeout: 240_000 }, async () => {
  const home = join(bench.dataDir, "home");
  mkdirSync(join(home, ".cursor"), { recursive: true });
  const installed = await run(["install", "cursor", "--data-dir", bench.dataDir], { env: { HOME: home } });
  expect(installed).toMatchObject({ code: 0, err: "" });
  const file = readFileSync(join(home, ".cursor", "mcp.json"), "utf8");
  const { command, args, env } = fileSchema.parse(JSON.parse(file)).mcpServers.labwright;
  const client = new Client({ name: "cursor", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, env, stderr: "inherit" }));
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["take_control", "list_hosts"]));
    const reply = await client.callTool({ name: "list_hosts", arguments: {} }, { timeout: 120_000 });
    expect(reply).not.toMatchObject({ isError: true });
    expect(bench.daemon()).toBeDefined();
  } finally {
    await client.close();
  }
});

const dist = join(process.cwd(), "mcp-server", "dist");

/** What an entry of the build loads at once, itself included. */
function loadedBy(file: string, seen = new Map<string, string>()): Map<string, string> {
  if (seen.has(file)) return seen;
  const text = readFileSync(file, "utf8");
  seen.set(file, text);
  for (const [, path = ""] of text.matchAll(/(?:from|import)"(\.[^"]+\.js)"/g))
    loadedBy(join(file, "..", path), seen);
  return seen;
}

it("loads what changes files only when it runs", () => {
  const marks = /Invalid TOML document|jsonc-parser/;
  const chunks = readdirSync(join(dist, "chunks")).filter((name) => name.startsWith("install-"));
  expect(chunks.some((name) => marks.test(readFileSync(join(dist, "chunks", name), "utf8")))).toBe(true);
  for (const entry of ["bridge.js", "daemon.js", "cli.js"]) {
    const loaded = loadedBy(join(dist, entry));
    expect(loaded.size, entry).toBeGreaterThan(1);
    for (const [file, text] of loaded) expect(marks.test(text), file).toBe(false);
  }
});
