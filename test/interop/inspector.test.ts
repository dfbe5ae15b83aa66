import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { type Bench, productBench, productCommand } from "../fixtures/daemon.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const inspector = fileURLToPath(new URL("../../node_modules/.bin/mcp-inspector", import.meta.url));
const inspect = async (...args: string[]) => {
  const { stdout } = await promisify(execFile)(inspector, ["--cli", ...args], { maxBuffer: 20_000_000 });
  return stdout;
};

let bench: Bench;
beforeAll(() => {
  bench = productBench();
});
afterAll(() => bench.end());

const listed = z.object({ tools: z.array(z.object({ name: z.string() })) });

describe("Inspector", () => {
  it.each(["legacy", "modern"])("finds nothing wrong with the tools under --strict: %s", async (era) => {
    const server = [process.execPath, ...productCommand, "--data-dir", bench.dataDir];
    // Exit code 6 is a schema that some host cannot take; execFile then rejects.
    const out = await inspect(...server, "--method", "tools/list", "--strict", "--protocol-era", era);
    const { tools } = listed.parse(JSON.parse(out.slice(out.indexOf("{"))));
    expect(tools.map(({ name }) => name)).toContain("list_hosts");
  });

  it.each(["legacy", "modern"])("finds every skill to be what its digest says: %s", async (era) => {
    const server = [process.execPath, ...productCommand, "--data-dir", bench.dataDir];
    // Exit codes 7 and 8 are a skill or a file that breaks the extension's rules.
    const out = await inspect(...server, "--method", "skills/list", "--verify", "--protocol-era", era);
    expect(out).toContain('"uri":"skill://run-testcase/SKILL.md"');
    expect(out).not.toContain('"ok":false');
  });

  it("calls a tool over stdio and over HTTP", async () => {
    const server = [process.execPath, ...productCommand, "--data-dir", bench.dataDir];
    const call = ["--method", "tools/call", "--tool-name", "list_hosts"];
    expect(await inspect(...server, ...call)).toContain("browser");
    const file = await bench.startDaemon(["--log-level", "error"]).then(() => bench.daemon());
    if (!file) throw new Error("no daemon");
    const header = ["--header", `Authorization: Bearer ${file.token}`];
    expect(await inspect(daemonUrl(file, "/mcp").href, ...header, ...call)).toContain("browser");
  });
});
