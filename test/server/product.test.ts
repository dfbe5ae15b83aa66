import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type DaemonFile, daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import {
  type Bench,
  isAlive,
  kill,
  productBench,
  productCommand,
  productServe,
  startHostProcess,
  type WireHost,
  within,
} from "../fixtures/daemon.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const open: Bench[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((bench) => bench.end()));
});

function bench(config?: string): Bench {
  const made = productBench();
  open.push(made);
  if (config !== undefined) writeFileSync(join(made.dataDir, "labwright.yaml"), config);
  return made;
}

function file(of: Bench): DaemonFile {
  const found = of.daemon();
  if (!found) throw new Error("no daemon");
  return found;
}

/** Runs `labwright serve` that is expected to end by itself. */
async function serveAndEnd(...args: string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [...productServe, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (part: Buffer) => {
    said += part.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, said };
}

function childrenOf(pid: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(Number(name)) }));
  const direct = parents.filter(({ parent }) => parent === pid).map((child) => child.pid);
  return direct.flatMap((child) => [child, ...childrenOf(child)]);
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1]);
  } catch {
    return undefined;
  }
}

const isBrowser = (pid: number) =>
  readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--remote-debugging-pipe");

describe("the bridge of the build", () => {
  const skillTools = ["get_compatible_hosts", "get_device_info"];
  const namesOf = async (host: WireHost) => (await host.client.listTools()).tools.map(({ name }) => name);

  it("offers what it was asked for, without a daemon, and calls nothing else", async () => {
    const host = await bench().host("a", { args: ["--skills", "device-status"] });
    expect(await namesOf(host)).toEqual(skillTools);
    expect(host.client.getInstructions()).not.toContain("navigate_to_node");
    const beyond = await host.call("take_control");
    expect(beyond.error).toMatchObject({ code: "TOOL_NOT_FOUND", hint: expect.stringContaining("skill") });
    expect((await host.call("get_device_info")).isError).toBe(false);
  });

  it("offers only what changes nothing when it is read-only", async () => {
    const host = await bench().host("a", { args: ["--read-only", "--exclude-tools", "list_hosts,diagnose"] });
    const names = await namesOf(host);
    expect(names).toContain("dump_ui_elements");
    for (const name of ["list_hosts", "diagnose", "take_control", "execute_device_action"])
      expect(names).not.toContain(name);
  });

  it.each([
    [["--skills", "device-statu"], "device-status"],
    [["--tools", "list_host"], "list_hosts"],
    [["--skill", "device-status"], "--skills"],
  ])("ends at %j, and says what there is", (args, said) => {
    // A skill that is not of the build may be the user's own, so the daemon is asked.
    const given = [...productCommand, "--data-dir", bench().dataDir, ...args];
    const ended = spawnSync(process.execPath, given, { input: "", encoding: "utf8" });
    expect(ended.status).toBe(2);
    expect(ended.stderr).toContain(said);
    expect(ended.stdout).toBe("");
  });
});

describe("the daemon of the build", () => {
  it("keeps its places to its user, and serves REST and metrics to the token", async () => {
    const of = bench();
    chmodSync(of.dataDir, 0o755);
    await of.startDaemon(["--log-level", "error"]);
    expect(statSync(join(of.dataDir, "daemon.json")).mode & 0o777).toBe(0o600);
    expect(statSync(of.dataDir).mode & 0o777).toBe(0o700);
    const get = (path: string, init: RequestInit = {}) =>
      fetch(daemonUrl(file(of), path), { ...init, headers: daemonHeaders(file(of), "test") });
    const called = await get("/api/v1/tools/list_hosts", { method: "POST", body: "{}" });
    expect(await called.json()).toMatchObject({ success: true, result: { hosts: [{ status: "online" }] } });
    const metrics = await (await get("/metrics")).text();
    expect(metrics).toContain('labwright_calls_total{tool="list_hosts",outcome="ok"} 1');
    expect(metrics).toContain("labwright_leases 0");
  });

  it("is one for a data directory: a second says who has it, and the first goes on", async () => {
    const of = bench();
    const pid = await of.startDaemon(["--log-level", "error"]);
    const { code, said } = await serveAndEnd("--data-dir", of.dataDir);
    expect(code).toBe(3);
    expect(JSON.parse(said)).toMatchObject({
      code: "DATA_DIR_BUSY",
      message: expect.stringContaining(String(pid)),
    });
    expect(file(of).pid).toBe(pid);
    expect(isAlive(pid)).toBe(true);
  });

  it("says which line of its configuration is wrong, also through a bridge", async () => {
    const of = bench("server:\n  prot: 1\n");
    const { code, said } = await serveAndEnd("--data-dir", of.dataDir);
    expect(code).toBe(2);
    expect(JSON.parse(said)).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(":2:3"),
    });
    const { call } = await of.host();
    expect((await call("list_hosts")).error).toMatchObject({
      code: "DAEMON_UNAVAILABLE",
      message: expect.stringContaining('unknown key "prot"'),
    });
  });

  it.each([
    [["--host", "0.0.0.0"], "server.tls"],
    [["--port", "99999"], "--port"],
    [["--prot", "1"], "--prot"],
  ])("refuses %j and says why", async (args, why) => {
    const of = bench();
    const { code, said } = await serveAndEnd("--data-dir", of.dataDir, ...args);
    expect(code).toBe(2);
    expect(said).toContain(why);
    expect(of.daemon()).toBeUndefined();
  });

  it("on request to end, closes its browser and removes its file", async () => {
    const of = bench();
    const pid = await of.startDaemon(["--log-level", "error"]);
    const { call } = await of.host();
    expect((await call("take_control")).isError).toBe(false);
    const family = childrenOf(pid);
    expect(family.some(isBrowser)).toBe(true);
    kill(pid, "SIGTERM");
    await expect.poll(() => [pid, ...family].filter(isAlive), within).toEqual([]);
    expect(existsSync(join(of.dataDir, "daemon.json"))).toBe(false);
  });

  it("killed with -9, leaves no browser, and its successor goes on with the lease", async () => {
    const of = bench();
    const { call } = await of.host();
    const { structured } = await call("take_control");
    const { pid } = file(of);
    const family = childrenOf(pid);
    expect(family.some(isBrowser)).toBe(true);
    kill(pid, "SIGKILL");
    await expect.poll(() => family.filter(isAlive), within).toEqual([]);
    const next = await call("execute_device_action", {
      session_id: structured.session_id,
      actions: [{ command: "get_page_info" }],
    });
    expect(next.isError).toBe(false);
    expect(file(of).pid).not.toBe(pid);
  });

  it("leaves no process when the host that began it all is killed", async () => {
    const of = bench("limits:\n  idle_exit_ms: 500\n  lease_ms: 1000\n");
    const host = startHostProcess([...productCommand, "--data-dir", of.dataDir]);
    await expect.poll(() => of.daemon(), within).toBeDefined();
    host.kill("SIGKILL");
    await expect.poll(() => of.processes(), within).toEqual([]);
    expect(of.daemon()).toBeUndefined();
  });
});
