import { chmodSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { startPostgres } from "../fixtures/postgres.ts";
import { hasSandbox } from "../fixtures/sandbox.ts";
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

  it("explains what a set-top box lacks: ffmpeg, the capture card, lircd, languages", async () => {
    const { code, of } = await examine(
      `devices:
  - name: box
    model: stb
    controllers:
      av: { v4l2: /dev/video99 }
      infrared: { socket: ${join(folder.path, "lircd")}, remote: box }
      text: { languages: [eng, xxx] }
`,
      { PATH: folder.path },
    );
    expect(code).toBe(1);
    expect(of("ffmpeg for box")).toMatchObject({
      status: "missing",
      fix: expect.stringContaining("apt-get install"),
    });
    expect(of("capture source for box")).toMatchObject({
      status: "missing",
      detail: expect.stringContaining("/dev/video99 is not there"),
    });
    expect(of("lircd for box")).toMatchObject({
      status: "missing",
      detail: expect.stringContaining("there is no such socket"),
      fix: expect.stringContaining("sudo systemctl start lircd"),
    });
    expect(of("texts in pictures for box")).toMatchObject({
      status: "missing",
      detail: "no model of xxx",
      fix: expect.stringContaining("tesseract-ocr-xxx"),
    });
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

  it("says what stands between pages, scripts and this machine", async () => {
    const devices =
      "devices: [{name: here}, {name: away, controllers: {web: {cdp: 'http://127.0.0.1:1'}}}]\n";
    const { of } = await examine(devices);
    const isRoot = process.getuid?.() === 0;
    expect(of("browser sandbox")).toMatchObject(
      isRoot ? { status: "warning", detail: expect.stringContaining("off for here:") } : { status: "ok" },
    );
    expect(of("browser proxy")).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("none for away"),
    });
    expect(of("sandbox for scripts")?.status).toBe(hasSandbox ? "ok" : "warning");
    expect(of("seccomp for scripts") !== undefined).toBe(hasSandbox);
    expect(of("cgroup for scripts") !== undefined).toBe(hasSandbox);
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
