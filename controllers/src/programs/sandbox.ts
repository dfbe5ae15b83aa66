import { lstatSync, readlinkSync } from "node:fs";
import { type TreeUsage, usageOf } from "./processTree.ts";
import { findProgram, type RunningProgram, runProgram, startProgram } from "./run.ts";

/**
 * `memoryMb` and `fileMb` are what one process may have of memory and what one file and each writable folder may hold;
 * `processes` counts threads too.
 */
export type SandboxLimits = { memoryMb: number; processes: number; fileMb: number };

/** What is shown inside, read-only unless `writable`: a folder, a file or a socket. */
export type SandboxMount = { from: string; to: string; writable?: boolean };

export type SandboxedProgram = {
  mounts: readonly SandboxMount[];
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  limits: SandboxLimits;
  /** Folders of its own, empty at first and gone afterwards. */
  folders: readonly [string, ...string[]];
  /** Where it starts; the first of its folders when left out. */
  cwd?: string;
  /** Runs as `Sandbox.sharedUser`, so that it can change what other such programs wrote; their processes are counted together. */
  isShared?: boolean;
  /** The program's absolute path inside, and its arguments. */
  command: readonly [string, ...string[]];
};

/** `usage` is of the program and what it started. Time is its owner's to limit. */
export type WatchedProgram = RunningProgram & { usage(): TreeUsage };
export type Sandbox = {
  start(program: SandboxedProgram): WatchedProgram;
  /** Whom the files of shared programs belong to where the server is root; elsewhere programs run as the server's user. */
  sharedUser: number | undefined;
};
export type FoundSandbox = { ok: true; sandbox: Sandbox } | { ok: false; reason: string; fix: string };

const probeMs = 15_000;
const ownTasks = 2;
/** User ids without an account: the range systemd gives to services without a user (its UIDS-GIDS.md). */
const users = { shared: 61_184, first: 61_185, count: 4_335 };

type Parts = { bwrap: string; prlimit: string; setpriv: string; isRoot: boolean };

let found: Sandbox | undefined;

/**
 * A way to run a program that sees only what it is given: no network, no other process, nothing of the host to write.
 * A sandbox that was found is remembered; one that was not is looked for again, since it may be installed meanwhile.
 */
export async function findSandbox(signal: AbortSignal): Promise<FoundSandbox> {
  if (found) return { ok: true, sandbox: found };
  const parts = findParts();
  if ("reason" in parts) return { ok: false, ...parts };
  const problem = await probe(parts, signal);
  if (problem !== undefined) {
    return {
      ok: false,
      reason: `bubblewrap does not work here: ${problem}`,
      fix: parts.isRoot
        ? "Run the server where it may make namespaces (a container needs CAP_SYS_ADMIN), with bubblewrap 0.8 or newer"
        : "Allow unprivileged user namespaces (on Ubuntu: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0), with bubblewrap 0.8 or newer",
    };
  }
  found = { start: (program) => start(program, parts), sharedUser: parts.isRoot ? users.shared : undefined };
  return { ok: true, sandbox: found };
}

function findParts(): Parts | { reason: string; fix: string } {
  if (process.platform !== "linux") {
    return { reason: `there is none for ${process.platform}`, fix: "Run scripts on a Linux host" };
  }
  const [bwrap, prlimit, setpriv] = ["bwrap", "prlimit", "setpriv"].map((name) => findProgram(name));
  if (bwrap && prlimit && setpriv) return { bwrap, prlimit, setpriv, isRoot: process.getuid?.() === 0 };
  const missing = [...(bwrap ? [] : ["bubblewrap"]), ...(prlimit && setpriv ? [] : ["util-linux"])];
  return {
    reason: `${missing.join(" and ")} not installed`,
    fix: `sudo apt-get install -y ${missing.join(" ")}`,
  };
}

/** Undefined when a program really starts another one inside; else what was said. */
async function probe(parts: Parts, signal: AbortSignal): Promise<string | undefined> {
  const args = argumentsOf(
    {
      mounts: [],
      env: {},
      limits: { memoryMb: 256, processes: 16, fileMb: 1 },
      folders: ["/tmp"],
      command: ["/bin/sh", "-c", "/bin/true && echo inside"],
    },
    parts,
  );
  try {
    const options = { signal, timeoutMs: probeMs, env: {} };
    const { stdout, stderr } = await runProgram(parts.bwrap, args, options);
    return stdout.trim() === "inside" ? undefined : stderr.trim().split("\n", 1)[0] || "it said nothing";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function start(program: SandboxedProgram, parts: Parts): WatchedProgram {
  // The environment is handed over as one, not among the arguments, which every user of the machine can read.
  const running = startProgram(parts.bwrap, argumentsOf(program, parts), { env: { ...program.env } });
  const pid = running.child.pid ?? 0;
  return {
    ...running,
    usage() {
      const { tasks, ...usage } = usageOf(pid);
      return { ...usage, tasks: Math.max(0, tasks - ownTasks) };
    },
  };
}

/** The same without any sandbox: only the environment is its own. What it started is ended with it. */
export function startUnsandboxed(
  command: readonly [string, ...string[]],
  options: { cwd: string; env: Readonly<Record<string, string>> },
): WatchedProgram {
  const [file, ...args] = command;
  const running = startProgram(file, args, { cwd: options.cwd, env: { ...options.env } });
  const pid = running.child.pid ?? 0;
  return { ...running, usage: () => usageOf(pid), end: () => running.end(0) };
}

function argumentsOf(program: SandboxedProgram, parts: Parts): string[] {
  const { limits, folders, command, mounts, cwd = folders[0], isShared = false } = program;
  const bytes = String(limits.fileMb * 1_048_576);
  const folder = (path: string) => ["--perms", "1777", "--size", bytes, "--tmpfs", path];
  return [
    ...["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    // Root mounts what only root may read; a user needs a namespace of their own for that.
    ...(parts.isRoot ? ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] : ["--unshare-user"]),
    ...systemMounts(),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["/dev/shm", ...folders].flatMap(folder),
    ...foldersAbove(mounts.map(({ to }) => to)),
    ...mounts.flatMap(({ from, to, writable }) => [writable ? "--bind" : "--ro-bind", from, to]),
    ...["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", cwd, "--"],
    ...(parts.isRoot ? asUser(parts.setpriv, isShared ? users.shared : nextUser()) : []),
    ...[parts.prlimit, `--nproc=${limits.processes}`, `--data=${limits.memoryMb * 1_048_576}`],
    ...[`--fsize=${bytes}`, "--core=0", "--nofile=1024", "--", ...command],
  ];
}

let given = 0;

/** The kernel does not count the processes of root, and counts those of a user over all sandboxes: so one user for each. */
const nextUser = () => users.first + (given++ % users.count);

const asUser = (setpriv: string, user: number) => [
  ...[setpriv, "--reuid", String(user), "--regid", String(user), "--clear-groups", "--"],
];

/** Programs and libraries. Nearly everywhere /bin and /lib are links into /usr, and stay so. */
function systemMounts(): string[] {
  const shown = ["bin", "sbin", "lib", "lib32", "lib64"].flatMap((name) => {
    const path = `/${name}`;
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (!entry) return [];
    return entry.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  });
  const links = ["/etc/alternatives", "/etc/ld.so.cache"];
  return [
    ...["--ro-bind", "/usr", "/usr", ...shown, ...foldersAbove(links)],
    ...links.flatMap((path) => ["--ro-bind-try", path, path]),
  ];
}

/** bubblewrap makes what is missing above a mount for its own user only. */
function foldersAbove(paths: readonly string[]): string[] {
  const above = paths.flatMap((path) => {
    const names = path.split("/").slice(1, -1);
    return names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
  });
  return [...new Set(above)].flatMap((path) => ["--perms", "0755", "--dir", path]);
}
