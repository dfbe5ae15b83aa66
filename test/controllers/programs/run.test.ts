import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeviceError } from "@labwright/controllers";
import { describe, expect, it } from "vitest";
import { findProgram, runProgram, startProgram } from "../../../controllers/src/programs/run.ts";

const NEVER = new AbortController().signal;
const options = { signal: NEVER, timeoutMs: 10_000 };
const node = process.execPath;
const forever = ["-e", "console.log(process.pid); setInterval(() => {}, 1000)"];

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const firstNumber = (stream: NodeJS.ReadableStream | null) =>
  new Promise<number>((resolve) =>
    stream?.once("data", (data) => resolve(Number.parseInt(String(data), 10))),
  );

describe("runProgram", () => {
  it("gives output and exit code, and hands arguments over as they are", async () => {
    const script = "process.stdin.pipe(process.stdout); console.error(process.argv[1]); process.exitCode = 3";
    const result = await runProgram(node, ["-e", script, "$(id) 'a' \"b\""], { ...options, input: "in" });
    expect(result).toEqual({ code: 3, stdout: "in", stderr: "$(id) 'a' \"b\"\n" });
  });

  it("runs in the folder it is told", async () => {
    const folder = await mkdtemp(join(tmpdir(), "labwright-run-"));
    const { stdout } = await runProgram(node, ["-p", "process.cwd()"], { ...options, cwd: folder });
    expect(stdout.trim()).toBe(folder);
    await rm(folder, { recursive: true });
  });

  it("says which program is missing", async () => {
    await expect(runProgram("no-such-program", [], options)).rejects.toMatchObject({
      code: "DEVICE_ERROR",
      message: expect.stringContaining("no-such-program"),
    });
    await expect(runProgram("/nowhere/at/all", [], options)).rejects.toBeInstanceOf(DeviceError);
  });

  it("kills a program that takes too long, and one whose call is cancelled", async () => {
    await expect(runProgram(node, forever, { ...options, timeoutMs: 200 })).rejects.toMatchObject({
      code: "COMMAND_TIMEOUT",
    });
    const cancel = new AbortController();
    const running = runProgram(node, forever, { ...options, signal: cancel.signal });
    cancel.abort();
    await expect(running).rejects.toMatchObject({ code: "COMMAND_TIMEOUT" });
  });
});

describe("startProgram", () => {
  it("runs until it is ended", async () => {
    const { child, end } = startProgram(node, forever);
    const pid = await firstNumber(child.stdout);
    expect(isRunning(pid)).toBe(true);
    await end();
    expect(isRunning(pid)).toBe(false);
    await end();
  });

  it("ends a program that ignores the polite signal", async () => {
    const stubborn = "process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000)";
    const { child, end } = startProgram(node, ["-e", stubborn]);
    const pid = await firstNumber(child.stdout);
    await end();
    expect(isRunning(pid)).toBe(false);
  });

  it.runIf(process.platform === "linux" && findProgram("setpriv") !== undefined)(
    "starts programs that die with their parent, also by kill -9",
    async () => {
      const parent = startProgram(node, [
        "-e",
        `const { spawn } = require("node:child_process");
         spawn("setpriv", ["--pdeathsig", "KILL", "--", process.execPath, "-e", "setInterval(() => {}, 1000); console.log(process.pid)"], { stdio: ["ignore", "inherit", "inherit"] });`,
      ]);
      const pid = await firstNumber(parent.child.stdout);
      parent.child.kill("SIGKILL");
      await expect.poll(() => isRunning(pid), { timeout: 5_000 }).toBe(false);
      await parent.end();
    },
  );
});
