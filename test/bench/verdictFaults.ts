import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Process, processesBelow } from "./memory.ts";

/** Processes of the browsers that a daemon started, the browsers themselves first. */
export async function browserProcesses(daemonPid: number): Promise<number[]> {
  const below = await processesBelow(daemonPid);
  const ours = below.filter(({ command }) => /chrom|msedge/i.test(command));
  const isMain = ({ command }: Process) => !command.includes("--type=");
  return [...ours.filter(isMain), ...ours.filter((one) => !isMain(one))].map(({ pid }) => pid);
}

export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended meanwhile.
    }
  }
}

/** Stops processes for a while, as a machine does that has no time for them. */
export async function standStill(pids: readonly number[], ms: number): Promise<void> {
  signalAll(pids, "SIGSTOP");
  try {
    await pause(ms);
  } finally {
    signalAll(pids, "SIGCONT");
  }
}

/** No hog outlives this, whatever becomes of the bench. */
const hogLifeMs = 300_000;

/** Two busy processes for each core, until the function that it gives is called. */
export function loadMachine(): () => Promise<void> {
  const program = `const end = Date.now() + ${hogLifeMs}; while (Date.now() < end);`;
  const hogs: ChildProcess[] = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn(process.execPath, ["-e", program], { stdio: "ignore" }),
  );
  return async () => {
    await Promise.all(
      hogs.map(async (hog) => {
        if (hog.exitCode !== null || hog.signalCode !== null) return;
        hog.kill("SIGKILL");
        await once(hog, "exit");
      }),
    );
  };
}

/** A certificate that no browser trusts, made by openssl. */
export function selfSigned(folder: string): { key: string; cert: string } {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=127.0.0.1", "-days", "2"];
  const files = ["-keyout", key, "-out", cert];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, ...files], {
    stdio: "ignore",
  });
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
}
