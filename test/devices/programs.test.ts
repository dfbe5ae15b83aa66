import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex, Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { startProgram } from "@labwright/controllers";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { programBundle } from "../fixtures/bundle.ts";

const node = process.execPath;
const folder = mkdtempSync(join(tmpdir(), "labwright-programs-"));
const bundle = join(folder, "run.mjs");
beforeAll(async () => {
  await build({ ...programBundle, entryPoints: ["controllers/src/programs/run.ts"], outfile: bundle });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program that ended waits for its parent to see it; an orphan's waits for the first process of the machine. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The numbers of the first line that a program writes. */
async function firstNumbers(stream: Readable | null): Promise<number[]> {
  if (!stream) throw new Error("no output");
  const [line] = await once(stream, "data");
  return String(line).trim().split(" ").map(Number);
}

/** Prints its own process id and that of a program that it started; both wait. */
const family = (more = "") => ["-c", `${more} sleep 600 & echo $$ $!; wait`];

describe.runIf(process.platform === "linux")("a program's tree", () => {
  it("ends with it when its owner ends it", async () => {
    const { child, end } = startProgram("bash", family());
    const pids = await firstNumbers(child.stdout);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await end();
    await expect.poll(() => pids.map(isRunning)).toEqual([false, false]);
  });

  it("ends with it when it ends by itself", async () => {
    const { child } = startProgram("bash", ["-c", "sleep 600 & echo $!; exit 0"]);
    const [pid = 0] = await firstNumbers(child.stdout);
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it("is killed as a whole at once where its owner gives it no time, sessions of their own among it", async () => {
    const { child, end } = startProgram("bash", ["-c", "trap '' TERM; setsid sleep 600 & echo $$ $!; wait"]);
    const pids = await firstNumbers(child.stdout);
    await end(0);
    await expect.poll(() => pids.map(isRunning)).toEqual([false, false]);
  });

  it.each([
    ["is killed with -9", "", true],
    ["is killed with -9 and nothing of it listens to a polite signal", "trap '' TERM;", true],
    ["ends without a word to its programs", "", false],
  ] as const)("ends with us when our process %s", async (_, more, isKilled) => {
    const source = `
      import { startProgram } from ${JSON.stringify(pathToFileURL(bundle).href)};
      startProgram("bash", ["-c", "exit 0"]);
      startProgram("bash", ${JSON.stringify(family(more))}).child.stdout.pipe(process.stdout);
      ${isKilled ? "" : "setTimeout(() => process.exit(0), 500);"}`;
    const parent = spawn(node, ["--input-type=module", "-e", source], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(parent, "exit");
    const pids = await firstNumbers(parent.stdout);
    expect(pids.map(isRunning)).toEqual([true, true]);
    if (isKilled) parent.kill("SIGKILL");
    await ended;
    await expect.poll(() => pids.map(isRunning), { timeout: 10_000 }).toEqual([false, false]);
  });
});

describe("what a program gets", () => {
  it("is as many pipes as it asks for, both ways and for any bytes", async () => {
    const source = `
      const { createReadStream, writeSync } = require("node:fs");
      createReadStream(null, { fd: 3 }).on("data", (data) => writeSync(4, data));`;
    const { child, end } = startProgram(node, ["-e", source], { pipes: 2 });
    const [to, from] = [child.stdio[3], child.stdio[4]];
    if (!(to instanceof Duplex) || !(from instanceof Readable)) throw new Error("no such pipes");
    const bytes = Buffer.from([0, 0xff, 0x80, 1]);
    to.write(bytes);
    const [read] = await once(from, "data");
    expect(read).toEqual(bytes);
    await end();
  });

  it("is a channel for messages that keep their bytes, and its end ends the program", async () => {
    const source = `
      process.on("message", ({ bytes }) => process.send({ bytes: Buffer.from(bytes).reverse() }));
      process.on("disconnect", () => process.exit(7));`;
    const { child } = startProgram(node, ["-e", source], { ipc: true });
    child.send({ bytes: Buffer.from([1, 2, 255]) });
    const [message] = await once(child, "message");
    expect(message).toEqual({ bytes: Buffer.from([255, 2, 1]) });
    child.disconnect();
    expect((await once(child, "exit"))[0]).toBe(7);
  });
});

it("a worker thread starts none, and gets the reason", async () => {
  const source = `
    const { parentPort } = require("node:worker_threads");
    import(${JSON.stringify(pathToFileURL(bundle).href)}).then(({ startProgram }) => {
      try {
        startProgram("sleep", ["600"]);
        parentPort.postMessage("started");
      } catch (error) {
        parentPort.postMessage(error.message);
      }
    });`;
  const worker = new Worker(source, { eval: true });
  const [said] = await once(worker, "message");
  expect(said).toBe("sleep is to be started by the main thread, not by a worker thread");
  await worker.terminate();
});
