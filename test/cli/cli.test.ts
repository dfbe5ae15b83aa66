import { spawn } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { startPostgres } from "../fixtures/postgres.ts";
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

const doctorSchema = z.object({
  findings: z.array(
    z.object({ what: z.string(), status: z.string(), detail: z.string(), fix: z.string().optional() }),
  ),
});

describe("labwright doctor", () => {
  async function examine(yaml: string | undefined, env: Record<string, string> = {}) {
    if (yaml !== undefined) writeFileSync(join(folder.path, "labwright.yaml"), yaml);
    const { code, out } = await labwright(["doctor", "--json"], { env });
    const { findings } = doctorSchema.parse(JSON.parse(out));
    return {
      code,
      of: (what: string) => findings.find((finding) => finding.what.startsWith(what)),
      findings,
    };
  }

  it("finds everything here, and says so in a line each", async () => {
    chmodSync(folder.path, 0o700);
    const { code, findings, of } = await examine(undefined);
    expect(findings.filter(({ status }) => status === "missing")).toEqual([]);
    expect(code).toBe(0);
    expect(of("chromium for browser")?.detail).toMatch(/Chrom|Playwright's own/);
    expect(of("daemon")?.detail).toContain("not running");
    const { out } = await labwright(["doctor"]);
    expect(out).toContain(`ok       Node: ${process.versions.node}\n`);
    expect(out.trimEnd().endsWith("Nothing is missing.")).toBe(true);
  });

  it("names each problem of the configuration with its place, and still looks at the rest", async () => {
    const { code, findings, of } = await examine("devicez: []\nlimits: {lease_ms: x}\n");
    expect(code).toBe(1);
    expect(findings.filter(({ what }) => what === "configuration").map(({ detail }) => detail)).toEqual([
      expect.stringContaining('labwright.yaml:1:1: unknown key "devicez"; did you mean "devices"?'),
      expect.stringContaining("labwright.yaml:2:20: limits.lease_ms"),
    ]);
    expect(of("Node")?.status).toBe("ok");
  });

  it("says of each remote of the agents whether it answers and takes its token", async () => {
    const server = createServer(({ headers }, response) => {
      response.statusCode = headers.authorization === "Bearer right" ? 200 : 401;
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = z.object({ port: z.int() }).parse(server.address());
    const remote = (name: string, variable: string, at = port) =>
      `    - {name: ${name}, url: "http://127.0.0.1:${at}", token: {env: ${variable}}}`;
    const remotes = [
      ...[remote("good", "RIGHT"), remote("wrong", "OTHER"), remote("unset", "NONE")],
      remote("away", "RIGHT", 1),
    ];
    const env = { RIGHT: "right", OTHER: "other" };
    const { findings } = await examine(`agents:\n  remotes:\n${remotes.join("\n")}\n`, env);
    server.close();
    expect(findings.filter(({ what }) => what.startsWith("remote"))).toMatchObject([
      { what: "remote good", status: "ok", detail: `answers at http://127.0.0.1:${port}` },
      { what: "remote wrong", status: "warning", detail: expect.stringContaining("HTTP 401") },
      { what: "remote unset", status: "warning", detail: "its token has no value: NONE" },
      { what: "remote away", status: "warning", detail: expect.stringContaining("does not answer") },
    ]);
  });

  it("names a browser that is not there with the command that installs it, once for all its devices", async () => {
    const { code, findings } = await examine(
      "devices:\n  - {name: a, count: 2, controllers: {web: {executable_path: /none/chrome}}}\n  - {name: b, controllers: {web: {browser: webkit}}}\n",
    );
    expect(code).toBe(1);
    expect(findings.find(({ what }) => what === "chromium for a, a-2")).toMatchObject({
      status: "missing",
      detail: "there is no program at /none/chrome",
      fix: expect.stringContaining("npx playwright-core install chromium"),
    });
    expect(findings.find(({ what }) => what === "webkit for b")).toBeDefined();
  });

  it("speaks for every driver of every device", async () => {
    const { findings, of } = await examine(
      "devices:\n  - {name: box, model: simulated, count: 2, controllers: {simulated_capture: {}}}\n  - {name: b}\n",
    );
    for (const driver of ["simulated device", "simulated capture"])
      expect(of(`${driver} for box, box-2`)).toMatchObject({
        status: "ok",
        detail: expect.stringContaining("made up"),
      });
    expect(findings.filter(({ what }) => what === "chromium for b")).toHaveLength(1);
  });

  it("distinguishes a program that does not run from a browser", async () => {
    const program = join(folder.path, "chrome");
    writeFileSync(program, "#!/bin/sh\nexit 1\n");
    chmodSync(program, 0o755);
    const { findings } = await examine(
      `devices: [{name: a, controllers: {web: {executable_path: ${program}}}}]\n`,
    );
    expect(findings.find(({ what }) => what === "chromium for a")).toMatchObject({
      status: "missing",
      detail: `${program} does not run`,
    });
  });

  it("says when the database server cannot be reached, and never its password", async () => {
    const { code, findings, of } = await examine(undefined, {
      DATABASE_URL: "postgresql://me:s3cretpw@127.0.0.1:9/x",
    });
    expect(code).toBe(1);
    expect(of("database")).toMatchObject({
      status: "missing",
      detail: expect.stringContaining("cannot be reached"),
    });
    expect(JSON.stringify(findings)).not.toContain("s3cretpw");
  });

  it("names the version of a database server that answers", async () => {
    const server = await startPostgres();
    cleanUp.push(() => server.stop());
    const { of } = await examine(undefined, { DATABASE_URL: await server.newDatabase() });
    expect(of("database")).toMatchObject({ status: "ok", detail: expect.stringMatching(/^PostgreSQL \d+/) });
  });

  it("warns of a port that another program holds, and knows the running daemon's own", async () => {
    const { file } = await daemon();
    const yaml = `server: {port: ${file.port}}\n`;
    expect((await examine(yaml)).of("port")).toMatchObject({
      status: "ok",
      detail: expect.stringContaining("running daemon"),
    });
    const other = temporaryFolder();
    cleanUp.push(other.remove);
    const { of } = await examine(yaml, {
      LABWRIGHT_DATA_DIR: other.path,
      LABWRIGHT_CONFIG: join(folder.path, "labwright.yaml"),
    });
    expect(of("port")).toMatchObject({ status: "warning", fix: expect.stringContaining("server.port") });
  });

  it("warns of a data directory that others can read, with the command that mends it", async () => {
    chmodSync(folder.path, 0o755);
    expect((await examine(undefined)).of("data directory")).toMatchObject({
      status: "warning",
      fix: `chmod 700 "${folder.path}"`,
    });
  });

  it("names programs that are not there with the command that installs them", async () => {
    const { of } = await examine(undefined, { PATH: folder.path });
    if (process.platform === "linux") {
      expect(of("flock")).toMatchObject({ status: "warning", fix: "sudo apt-get install -y util-linux" });
    }
    expect(of("Node")?.status).toBe("ok");
  });

  it("names a secret that has no value", async () => {
    const { code, of } = await examine("secrets: {PIN: {env: NOT_SET_HERE}}\n");
    expect(code).toBe(1);
    expect(of("secrets")).toMatchObject({
      status: "missing",
      detail: expect.stringContaining("NOT_SET_HERE"),
    });
  });
});
