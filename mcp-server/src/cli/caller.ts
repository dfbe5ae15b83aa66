import { readFileSync } from "node:fs";

/**
 * Who makes the calls of a command line: the user's terminal session, so that a lease which one call took serves the next
 * call of the same terminal, whatever started it. Without a terminal nothing says which calls belong together, so each
 * call is a client of its own.
 */
export function findCaller(): { client: string; hasTerminal: boolean } {
  const session = terminalSession();
  return session === undefined
    ? { client: `cli/call-${process.pid}`, hasTerminal: false }
    : { client: `cli/${process.getuid?.() ?? 0}-${session}`, hasTerminal: true };
}

/** Session and terminal of this process; undefined without a terminal, and where the system does not say. */
function terminalSession(): string | undefined {
  try {
    // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: state, ppid, pgrp, session, tty_nr follow the name.
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [, , , session, terminal] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return terminal === "0" ? undefined : `${session}-${terminal}`;
  } catch {
    return undefined;
  }
}
