import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { readDaemonFile } from "#mcp-server/server/daemonFile.ts";
import { run, temporaryFolder } from "./fixtures.ts";

/** Processes start here, on a machine that may do much else. */
const timeout = 180_000;

let folder: ReturnType<typeof temporaryFolder>;
const env = () => ({ HOME: folder.path, LABWRIGHT_DATA_DIR: folder.path });
/** In this process, with a real daemon in its own. */
const labwright = (...args: string[]) => run(args, { env: env(), cwd: folder.path });

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await labwright("stop");
  folder.remove();
}, timeout);

const state = z.object({ pid: z.number(), status: z.string() });
const status = async () => state.parse(JSON.parse((await labwright("status", "--json")).out));
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it(
  "starts a daemon with the first call, finds it with the next, and stops it",
  async () => {
    // As a process of its own, whose stdout is the result and nothing else.
    const bin = join(process.cwd(), "mcp-server/bin/labwright.js");
    const first = spawnSync(process.execPath, [bin, "call", "list_hosts"], {
      encoding: "utf8",
      cwd: folder.path,
      env: { PATH: process.env.PATH, ...env() },
    });
    expect({ code: first.status, err: first.stderr }).toEqual({ code: 0, err: "" });
    expect(JSON.parse(first.stdout)).toMatchObject({ hosts: [{ status: "online" }] });

    const before = await status();
    expect(before.status).toBe("healthy");
    expect(await labwright("call", "list_hosts")).toMatchObject({ code: 0, err: "" });
    expect((await status()).pid).toBe(before.pid);
    expect((await labwright("logs")).out).toContain('"tool":"list_hosts"');
    expect((await labwright("doctor")).out).toContain(`pid ${before.pid}`);

    expect(await labwright("stop")).toMatchObject({
      code: 0,
      out: `Stopped the daemon (pid ${before.pid}).\n`,
    });
    expect(isAlive(before.pid)).toBe(false);
    expect(existsSync(join(folder.path, "daemon.json"))).toBe(false);
  },
  timeout,
);

it(
  "serves REST, metrics and its own description, to those who have the token",
  async () => {
    expect(await labwright("call", "list_hosts")).toMatchObject({ code: 0, err: "" });
    const { port, token } = readDaemonFile(folder.path) ?? { port: 0, token: "" };
    const get = (path: string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers });
    expect((await get("/api/v1/tools", {})).status).toBe(401);
    const named = z.object({ tools: z.array(z.object({ name: z.string() })).min(1) });
    const { tools } = named.parse(await (await get("/api/v1/tools")).json());
    const described = z.object({ paths: z.record(z.string(), z.unknown()) });
    const { paths } = described.parse(await (await get("/api/v1/openapi.json")).json());
    expect(tools.filter(({ name }) => !(`/tools/${name}` in paths))).toEqual([]);
    expect(await (await get("/metrics")).text()).toContain(
      'labwright_calls_total{tool="list_hosts",outcome="ok"}',
    );
    expect(await (await get("/api/v1/events")).json()).toEqual({ events: [], next: 0 });
  },
  timeout,
);
