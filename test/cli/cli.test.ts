import { spawn } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { claimDataDir, readServeOptions } from "#mcp-server/cli/serve.ts";
import { writeDaemonFile } from "#mcp-server/server/daemonFile.ts";
import { run, startFakeDaemon, temporaryFolder } from "./fixtures.ts";

let folder: ReturnType<typeof temporaryFolder>;
const cleanUp: (() => Promise<void> | void)[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const end of cleanUp.splice(0).reverse()) await end();
  folder.remove();
});

async function daemon(options: Parameters<typeof startFakeDaemon>[1] = {}) {
  const started = await startFakeDaemon(folder.path, options);
  cleanUp.push(started.end);
  return started;
}

const labwright = (args: readonly string[], options: Parameters<typeof run>[1] = {}) =>
  run(args, {
    ...options,
    env: { LABWRIGHT_DATA_DIR: folder.path, ...options.env },
    cwd: options.cwd ?? folder.path,
  });

const echoed = z.object({
  text: z.string(),
  client: z.string(),
  trace_id: z.string(),
  device_id: z.string().optional(),
});

describe("wrong use", () => {
  it("ends with 2 and the nearest command for an unknown one", async () => {
    const { code, err, out } = await labwright(["statsu"]);
    expect(code).toBe(2);
    expect(err).toMatch(/unknown command 'statsu'[\s\S]*Did you mean status\?/);
    expect(out).toBe("");
  });

  it("ends with 2 and the nearest option for an unknown one", async () => {
    const { code, err } = await labwright(["logs", "--folow"]);
    expect(code).toBe(2);
    expect(err).toContain("Did you mean --follow?");
  });

  it.each([
    [["call"]],
    [["logs", "--lines", "-3"]],
    [["logs", "-n", "x"]],
    [["status", "--log-level", "loud"]],
    [["stop", "now"]],
  ])("ends with 2 for %j", async (args) => {
    expect(await labwright(args)).toMatchObject({ code: 2, out: "" });
  });

  it("ends with 2 for an unknown variable of ours, before anything starts", async () => {
    const { code, err } = await labwright(["call", "echo_back"], { env: { LABWRIGHT_PROT: "1" } });
    expect(code).toBe(2);
    expect(err).toMatch(/^CONFIG_INVALID: [\s\S]*LABWRIGHT_PROT/);
  });
});

describe("labwright call", () => {
  it("prints the result as JSON alone on stdout", async () => {
    await daemon();
    const { code, out, err } = await labwright([
      "call",
      "echo_back",
      "--json",
      '{"text": "hi"}',
      "--device",
      "browser",
    ]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(echoed.parse(JSON.parse(out))).toMatchObject({ text: "hi", device_id: "browser" });
  });

  it("keeps what it took when it ends", async () => {
    const { ended } = await daemon();
    const { out } = await labwright(["call", "echo_back"]);
    await expect.poll(() => ended.length).toBe(1);
    expect(ended).not.toContain(echoed.parse(JSON.parse(out)).client);
  });

  it("goes on with the trace of TRACEPARENT", async () => {
    await daemon();
    const env = { TRACEPARENT: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };
    const { out } = await labwright(["call", "echo_back"], { env });
    expect(echoed.parse(JSON.parse(out)).trace_id).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
  });

  it("ends with 1 and code, message, next step and trace on stderr when the tool fails", async () => {
    await daemon();
    const { code, out, err } = await labwright(["call", "echo_back", "--json", '{"fail": true}']);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(
      /^DEVICE_HELD: It is held\.\nWait for it\.\n(There is no terminal here, .*\n)?\{"holder":"cursor"\}\ntrace [0-9a-f]{32}\n$/,
    );
  });

  it("ends with 2 for a tool or an argument that does not exist, with the nearest", async () => {
    await daemon();
    expect(await labwright(["call", "echo_bak"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("echo_back"),
    });
    const wrong = await labwright(["call", "echo_back", "--json", '{"txet": "x", "text": 3}']);
    expect(wrong).toMatchObject({ code: 2, err: expect.stringMatching(/^INVALID_INPUT[\s\S]*txet/) });
  });

  it.each(["{text: 1}", "[1]", '"x"', ""])("ends with 2 for --json %s, and calls nothing", async (json) => {
    let calls = 0;
    await daemon({ onCall: () => calls++ });
    const { code, err } = await labwright(["call", "echo_back", "--json", json]);
    expect(code).toBe(2);
    expect(err).toContain("--json cannot be read");
    expect(calls).toBe(0);
  });

  it("cancels the call on Ctrl-C and ends with 130", async () => {
    const controller = new AbortController();
    await daemon({ onCall: () => setImmediate(() => controller.abort()) });
    const { code } = await labwright(["call", "echo_back", "--json", '{"hang": true}'], {
      signal: controller.signal,
    });
    expect(code).toBe(130);
  });

  it("refuses a daemon that has other settings than those of the working directory", async () => {
    await daemon();
    const work = join(folder.path, "work");
    mkdirSync(work);
    writeFileSync(join(work, "labwright.yaml"), "devices: [{name: other}]\n");
    const { code, err } = await labwright(["call", "echo_back"], { cwd: work });
    expect(code).toBe(2);
    expect(err).toMatch(/^DAEMON_MISMATCH: [\s\S]*labwright stop/);
  });
});

describe("labwright status", () => {
  it("ends with 1 when no daemon runs", async () => {
    expect(await labwright(["status"])).toMatchObject({
      code: 1,
      out: expect.stringContaining("No daemon is running"),
    });
    const { out } = await labwright(["status", "--json"]);
    expect(JSON.parse(out)).toEqual({ running: false, data_dir: folder.path });
  });

  it("says which daemon runs and how it is, and never its token", async () => {
    const { file } = await daemon({ healthy: false });
    const { code, out } = await labwright(["status", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      running: true,
      status: "unhealthy",
      pid: process.pid,
      port: file.port,
      version: "1.2.3",
      services: { database: "ok" },
    });
    expect(out).not.toContain(file.token);
    expect((await labwright(["status"])).out).toMatch(/^status +unhealthy$/m);
  });

  it("does not believe a daemon.json that a dead daemon left", async () => {
    const { end } = await daemon();
    await end();
    expect(await labwright(["status"])).toMatchObject({ code: 1 });
  });
});

/** Another user's program on the port that daemon.json names. It asks `real` what it does not know itself. */
async function startStranger(real: number): Promise<{ port: number; heard: string[] }> {
  const heard: string[] = [];
  const server = createServer(async (request, response) => {
    heard.push(`${request.url} ${JSON.stringify(request.headers)}`);
    const relayed = await fetch(`http://127.0.0.1:${real}${request.url}`);
    response.writeHead(relayed.status, { "content-type": "application/json" });
    response.end(await relayed.text());
  });
  server.on("upgrade", (request, socket) => {
    heard.push(`${request.url} ${JSON.stringify(request.headers)}`);
    socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: labwright\r\n\r\n");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  cleanUp.push(() => void server.close());
  return { port: (server.address() as AddressInfo).port, heard };
}

describe("a data directory that another user could have filled", () => {
  const shared = () => chmodSync(folder.path, 0o1777);
  const foreign = () => chownSync(folder.path, 65_534, 65_534);
  // Only root can give a folder away.
  const changes = process.getuid?.() === 0 ? { shared, foreign } : { shared };
  it.each(Object.entries(changes))("is not used, nor the daemon that it names: %s", async (_, change) => {
    const { file } = await daemon();
    const stranger = await startStranger(file.port);
    writeDaemonFile(folder.path, { ...file, port: stranger.port });
    change();
    for (const command of [["status"], ["call", "echo_back"]]) {
      const { code, err } = await labwright(command);
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("Set LABWRIGHT_DATA_DIR") });
    }
    expect((await labwright(["doctor"])).out).toContain("MISSING  data directory");
    expect(stranger.heard).toEqual([]);
    const served = { options: readServeOptions([]), env: { LABWRIGHT_DATA_DIR: folder.path } };
    await expect(claimDataDir(served.options, served.env, folder.path)).rejects.toThrow(folder.path);
  });
});

describe("a stranger on the port of daemon.json", () => {
  it.each([
    ["status"],
    ["stop"],
  ])("gets no token of labwright %s, also when it asks the daemon for the proof", async (command) => {
    const { file, stops } = await daemon();
    const stranger = await startStranger(file.port);
    writeDaemonFile(folder.path, { ...file, port: stranger.port });
    const { out } = await labwright([command]);
    expect(out).toContain("No daemon is running");
    expect(stranger.heard).toHaveLength(1);
    expect(stranger.heard.join()).not.toContain(file.token);
    expect(stops).toEqual([]);
  });
});

describe("labwright stop", () => {
  it("is done at once when no daemon runs", async () => {
    expect(await labwright(["stop"])).toMatchObject({ code: 0 });
  });

  it("asks the daemon to end and returns when its process is gone", async () => {
    const process = spawn("sleep", ["60"], { stdio: "ignore" });
    cleanUp.push(() => void process.kill("SIGKILL"));
    const { stops } = await daemon({
      pid: process.pid ?? 0,
      isIdle: () => {
        process.kill("SIGKILL");
        return true;
      },
    });
    const { code, out } = await labwright(["stop"]);
    expect({ code, out }).toEqual({ code: 0, out: `Stopped the daemon (pid ${process.pid}).\n` });
    expect(stops).toEqual([{ reason: "labwright stop", ifIdle: false }]);
    expect(process.signalCode).toBe("SIGKILL");
  });

  it("leaves a busy one alone with --if-idle, and ends with 1", async () => {
    const { stops } = await daemon({ isIdle: () => false });
    expect(await labwright(["stop", "--if-idle"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("busy"),
    });
    expect(stops).toEqual([{ reason: "labwright stop", ifIdle: true }]);
  });
});

describe("labwright logs", () => {
  const log = () => join(folder.path, "logs", "daemon.log");
  function writeLog(lines: number): void {
    mkdirSync(join(folder.path, "logs"), { recursive: true });
    writeFileSync(log(), Array.from({ length: lines }, (_, i) => `{"n":${i + 1}}\n`).join(""));
  }

  it("shows the last lines", async () => {
    writeLog(500);
    expect(await labwright(["logs", "-n", "2"])).toMatchObject({ code: 0, out: '{"n":499}\n{"n":500}\n' });
    expect((await labwright(["logs"])).out.split("\n")).toHaveLength(101);
    expect((await labwright(["logs", "-n", "0"])).out).toBe("");
  });

  it("ends with 1 and where the log would be when there is none", async () => {
    expect(await labwright(["logs"])).toMatchObject({ code: 1, err: expect.stringContaining(log()) });
  });

  it("follows what is written until Ctrl-C, also into a file that replaced the old one", async () => {
    writeLog(1);
    const controller = new AbortController();
    const { code, out } = await labwright(["logs", "--follow"], {
      signal: controller.signal,
      onOut: (text) => {
        if (text.includes('"n":1}')) appendFileSync(log(), '{"n":22}\n');
        if (text.includes('"n":22}')) writeFileSync(log(), '{"n":3}\n');
        if (text.includes('"n":3}')) controller.abort();
      },
    });
    expect(code).toBe(130);
    expect(out).toBe('{"n":1}\n{"n":22}\n{"n":3}\n');
  });
});
