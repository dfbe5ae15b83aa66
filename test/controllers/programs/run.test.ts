import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeviceError, runProgram, startProgram } from "@labwright/controllers";
import { describe, expect, it } from "vitest";
import { runForBytes } from "#controllers/programs/run.ts";

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

  it("runs in the folder it is reported", async () => {
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
    await expect(runProgram(node, forever, { ...options, signal: cancel.signal })).rejects.toMatchObject({
      code: "COMMAND_TIMEOUT",
    });
  });

  it("says which signal ended a program that no one stopped", async () => {
    const crash = ["-e", "process.kill(process.pid, 'SIGSEGV')"];
    await expect(runProgram(node, crash, options)).rejects.toMatchObject({
      code: "DEVICE_ERROR",
      message: expect.stringContaining("SIGSEGV"),
    });
  });
});

describe("runForBytes", () => {
  it("gives output as it is, where text would change it", async () => {
    const bytes = Buffer.from([0, 0xff, 0xfe, 0x80, 10, 13]);
    const echo = "process.stdin.pipe(process.stdout)";
    const { code, stdout } = await runForBytes(node, ["-e", echo], { ...options, input: bytes });
    expect([code, stdout]).toEqual([0, bytes]);
  });

  it("ends a program that writes without end", async () => {
    const endless =
      "const part = 'x'.repeat(1e6); (function more() { process.stdout.write(part, more); })();";
    await expect(runForBytes(node, ["-e", endless], options)).rejects.toMatchObject({
      code: "DEVICE_ERROR",
      message: expect.stringContaining("more than 16 MB"),
    });
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
});
