import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { type Bench, productBench } from "../fixtures/daemon.ts";
import { claudeCode } from "./claudeCode/fetch.ts";
import { startMessages } from "./claudeCode/messages.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const tool = "mcp__labwright__get_compatible_hosts";

// Fetches a program of 360 MB, so only when it is asked for: npm run interop -- --all
describe.runIf(process.env.INTEROP_ALL === "true")("Claude Code", () => {
  let bench: Bench;
  let program = "";
  let messages: Awaited<ReturnType<typeof startMessages>>;
  beforeAll(async () => {
    program = claudeCode();
    bench = productBench();
    await bench.startDaemon(["--log-level", "error"]);
    messages = await startMessages({ tool, input: { userinterface_name: "no such app" } });
  });
  afterAll(async () => {
    messages.end();
    await bench.end();
  });

  it("gets a skill's tools by its URL and nothing else of ours, and its call reaches the daemon", async () => {
    const { result } = await runClaude("/mcp?skill=run-testcase");
    expect(result).toBe("Done.");
    const [first, second] = messages.requests;
    const ours = first?.tools.map(({ name }) => name).filter((name) => name.startsWith("mcp__"));
    expect(ours?.sort()).toEqual(["mcp__labwright__execute_testcase", tool]);
    expect(JSON.stringify(second?.messages)).toContain("USERINTERFACE_NOT_FOUND");
    expect(await callsOf("get_compatible_hosts")).toBe(1);
  });

  /** Its own home, a dummy key, no other network: what it would send out goes to the stand-in. */
  async function runClaude(path: string): Promise<{ result: string }> {
    const file = bench.daemon();
    if (!file) throw new Error("no daemon");
    const home = join(bench.dataDir, "home");
    mkdirSync(home, { recursive: true });
    const { authorization = "" } = daemonHeaders(file, "unused");
    const server = { type: "http", url: daemonUrl(file, path).href, headers: { authorization } };
    const config = join(home, "mcp.json");
    writeFileSync(config, JSON.stringify({ mcpServers: { labwright: server } }), { mode: 0o600 });
    const args = ["-p", "Which hosts can run it?", "--bare", "--mcp-config", config, "--strict-mcp-config"];
    const { stdout } = await run(
      program,
      [...args, "--allowedTools", tool, "--model", "claude-sonnet-5", "--output-format", "json"],
      {
        HOME: home,
        PATH: process.env.PATH ?? "",
        ANTHROPIC_BASE_URL: messages.url,
        ANTHROPIC_API_KEY: "dummy",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_TELEMETRY: "1",
        DISABLE_AUTOUPDATER: "1",
      },
      home,
    );
    return z.object({ result: z.string() }).parse(JSON.parse(stdout));
  }

  /** As the daemon itself counts them. */
  async function callsOf(name: string): Promise<number> {
    const file = bench.daemon();
    if (!file) throw new Error("no daemon");
    const response = await fetch(daemonUrl(file, "/metrics"), { headers: daemonHeaders(file, "test") });
    const lines = (await response.text()).split("\n").filter((line) => line.includes(`tool="${name}"`));
    const count = lines.find((line) => /_(calls|count)(_total)?\{/.test(line));
    return Number(count?.split(" ").at(-1) ?? 0);
  }
});

async function run(program: string, args: string[], env: Record<string, string>, cwd: string) {
  const running = promisify(execFile)(program, args, { env, cwd, timeout: 120_000, maxBuffer: 10_000_000 });
  running.child.stdin?.end();
  return running;
}
