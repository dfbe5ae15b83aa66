import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";

/** Programs get this long between being asked to end and being killed. */
export const graceMs = 3_000;

/**
 * A shell reads the running programs' ids from a pipe of ours. The kernel closes the pipe when this process ends, however it
 * ends. The shell then asks the programs of the last line to end, and kills their groups after the grace.
 */
const script = `trap '' HUP INT TERM
while read -r pids; do last=$pids; done
[ "$last" ] || exit 0
kill -TERM $last
sleep ${graceMs / 1_000}
for pid in $last; do kill -KILL "-$pid"; done`;

const running = new Set<number>();
let shell: ChildProcess | undefined;

/** Has a program, which leads a process group of its own, end with this process, also when that is killed with -9. */
export function guard(pid: number): void {
  running.add(pid);
  report();
}

/** Forgets a program that has ended. */
export function unguard(pid: number): void {
  running.delete(pid);
  report();
}

function report(): void {
  shell ??= startShell();
  shell.stdin?.write(`${[...running].join(" ")}\n`);
}

/** In a session of its own, since Ctrl+C must not end it before its owner. Keeps no process running. */
function startShell(): ChildProcess {
  const child = spawn("/bin/sh", ["-c", script], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  child.stdin.on("error", () => undefined);
  const gone = () => {
    if (shell === child) shell = undefined;
  };
  child.once("exit", gone);
  child.once("error", gone);
  return child;
}
