import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const labwright = fileURLToPath(new URL("../../mcp-server/bin/labwright.js", import.meta.url));
let cwd: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "labwright-demo-test-"));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** Rejects with the exit code and both outputs unless the exit code is 0. */
const demo = (...args: string[]) =>
  run(process.execPath, [labwright, "demo", ...args], { cwd, timeout: 570_000, maxBuffer: 10_000_000 });

describe("labwright demo", () => {
  it("judges an implementation with one known fault, and leaves nothing but reports", async () => {
    const { stdout } = await demo("serenadejs", "--report", "reports");
    expect(stdout).toMatch(
      /^serenadejs +Escape cancels an edit +failed .*breaks the spec: it never listens/m,
    );
    expect(stdout).toMatch(/^serenadejs +Enter saves an edit +passed/m);
    expect(stdout).not.toContain("unexpected");
    expect(stdout).toContain('"mcpServers"');
    expect(stdout.trim().split("\n").at(-1)).toMatch(/^Open the report: \S+ .*serenadejs.report\.html$/);

    const report = (name: string) => readFile(join(cwd, "reports", "serenadejs", name), "utf8");
    expect(await report("report.html")).toContain("Escape cancels an edit");
    expect(await report("junit.xml")).toContain("<failure");
    expect(JSON.parse(await report("ctrf.json"))).toHaveProperty("results.summary.failed", 1);

    const [, dataDir = ""] = /^Starting Labwright on (.+)$/m.exec(stdout) ?? [];
    expect(dataDir).not.toBe("");
    expect(existsSync(dataDir)).toBe(false);
    const { stdout: processes } = await run("ps", ["-A", "-o", "args="]);
    expect(processes).not.toContain(dataDir);
  }, 600_000);

  it("walks the shop's tree on a simulated phone, runs its test case, and leaves nothing but reports", async () => {
    const { stdout } = await demo("--device", "android", "--report", "phone");
    expect(stdout).toContain("The tree of the shop: 7 edges passed, 0 did not");
    expect(stdout).toMatch(/^shop +a lamp is bought +passed/m);
    expect(await readFile(join(cwd, "phone", "report.html"), "utf8")).toContain("a lamp is bought");
    const [, dataDir = ""] = /^Starting Labwright on (.+)$/m.exec(stdout) ?? [];
    expect(existsSync(dataDir)).toBe(false);
    const [, serial = ""] = /^A simulated phone at (\S+),/m.exec(stdout) ?? [];
    expect(serial).toMatch(/^127/);
    const { stdout: processes } = await run("ps", ["-A", "-o", "args="]);
    expect(processes).not.toContain(dataDir);
  }, 300_000);

  it("without adb says how to install it", async () => {
    const env = { ...process.env, PATH: cwd };
    const phone = run(process.execPath, [labwright, "demo", "--device", "android"], { cwd, env });
    await expect(phone).rejects.toMatchObject({ stderr: expect.stringContaining("apt-get install -y adb") });
  });

  it("takes no implementation for a phone", async () => {
    await expect(demo("--device", "android", "react")).rejects.toMatchObject({ code: 2 });
  });

  it("names the implementations there are when it does not know one", async () => {
    await expect(demo("vanila")).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("vanillajs"),
    });
  });
});
