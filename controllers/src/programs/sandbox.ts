import { lstatSync, readlinkSync } from "node:fs";
import { Socket } from "node:net";
import { atMost } from "../waiting/deadlines.ts";
import { type Cgroups, findCgroups } from "./cgroup.ts";
import { type TreeUsage, usageOf } from "./processTree.ts";
import { findProgram, type RunningProgram, startProgram } from "./run.ts";
import { seccompFilter } from "./seccomp.ts";

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

/**
 * `usage` is of the program and what it started. `ranOut` says, once it has ended, whether the kernel ended it since it took
 * more memory than it may. Time is its owner's to limit.
 */
export type WatchedProgram = RunningProgram & { usage(): TreeUsage; ranOut(): boolean };
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

/** What the kernel, and the programs' own libraries, may take beyond the limit on memory before a cgroup ends them. */
const slackMb = 64;

type Programs = { bwrap: string; prlimit: string; setpriv: string; isRoot: boolean };
type Parts = Programs & { cgroups: Cgroups | undefined };

let found: { sandbox: Sandbox; cgroup: boolean } | undefined;

/**
 * A way to run a program that sees only what it is given: no network, no other process, nothing of the host to write.
 * A sandbox that was found is remembered; one that was not is looked for again, since it may be installed meanwhile.
 */
export async function findSandbox(signal: AbortSignal): Promise<FoundSandbox> {
  if (found) return { ok: true, sandbox: found.sandbox };
  const programs = findParts();
  if ("reason" in programs) return { ok: false, ...programs };
  let parts: Parts = { ...programs, cgroups: findCgroups() };
  let problem = await probe(parts, signal);
  if (problem !== undefined && parts.cgroups) {
    // A cgroup may be made where no process may be moved to.
    parts = { ...programs, cgroups: undefined };
    problem = await probe(parts, signal);
  }
  if (problem !== undefined) {
    return {
      ok: false,
      reason: `bubblewrap does not work here: ${problem}`,
      fix: parts.isRoot
        ? "Run the server where it may make namespaces (a container needs CAP_SYS_ADMIN), with bubblewrap 0.8 or newer"
        : "Allow unprivileged user namespaces (on Ubuntu: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0), with bubblewrap 0.8 or newer",
    };
  }
  const sharedUser = parts.isRoot ? users.shared : undefined;
  const sandbox: Sandbox = { start: (program) => start(program, parts), sharedUser };
  found = { sandbox, cgroup: parts.cgroups !== undefined };
  return { ok: true, sandbox };
}

/**
 * What stands between scripts and this machine: whether there is a sandbox, and if so, whether system calls are filtered
 * there, and whether a cgroup limits memory and processes of a whole run (else each process has limits of its own, and all
 * together are looked at five times a second).
 */
export async function wallsOfScripts(
  signal: AbortSignal,
): Promise<{ sandbox: boolean; seccomp: boolean; cgroup: boolean }> {
  const { ok } = await findSandbox(signal);
  return { sandbox: ok, seccomp: ok && seccompFilter() !== undefined, cgroup: ok && found?.cgroup === true };
}

function findParts(): Programs | { reason: string; fix: string } {
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
  const { child, end } = start(
    {
      mounts: [],
      env: {},
      limits: { memoryMb: 256, processes: 16, fileMb: 1 },
      folders: ["/tmp"],
      command: ["/bin/sh", "-c", "/bin/true && echo inside"],
    },
    parts,
  );
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (data: Buffer) => {
      said = `${said}${data.toString()}`.slice(0, 2_000);
    });
  const late = atMost(signal, probeMs);
  const stop = () => void end(0);
  late.addEventListener("abort", stop, { once: true });
  await new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  late.removeEventListener("abort", stop);
  if (late.aborted) return "it did not end in time";
  return said.trim() === "inside" ? undefined : said.trim().split("\n", 1)[0] || "it said nothing";
}

/**
 * Two gates on one socket of ours, whose end the kernel shuts with this process. The first holds bubblewrap back until the
 * guard knows of it. bubblewrap asks to die with its parent late, and asks again inside when the namespaces are made: one of
 * the two that loses its parent before stays for good. So the second gate, inside, holds the program back until then.
 */
const gates = {
  outer: 'read -r _ <&3 && { [ -z "$1" ] || echo 0 >"$1"; } && shift && exec "$@"',
  inner: 'echo >&3 && read -r _ <&3 && exec 3<&- && exec "$@"',
};
const shell = "/bin/sh";

function start(program: SandboxedProgram, parts: Parts): WatchedProgram {
  const command = [parts.bwrap, ...argumentsOf(program, parts)];
  // The environment is handed over as one, not among the arguments, which every user of the machine can read.
  const options = { env: { ...program.env }, pipes: 2 };
  const { memoryMb, processes } = program.limits;
  const cgroup = parts.cgroups?.make({ memoryMb: memoryMb + slackMb, tasks: processes + ownTasks });
  const args = ["-c", gates.outer, "sh", cgroup?.entry ?? "", ...command];
  const running = startProgram(shell, args, options);
  const { child } = running;
  const [gate, filter] = child.stdio.slice(3).filter((stream) => stream instanceof Socket);
  for (const stream of [gate, filter]) stream?.on("error", () => undefined);
  filter?.end(seccompFilter() ?? "");
  gate?.write("\n");
  gate?.once("data", () => gate.end("\n"));
  let ranOut = false;
  child.once("exit", () => {
    gate?.destroy();
    ranOut = cgroup?.ranOut() ?? false;
    void cgroup?.remove();
  });
  const pid = child.pid ?? 0;
  return {
    ...running,
    usage() {
      const { tasks, ...usage } = usageOf(pid, foldersInMemory(program));
      const memoryMb = cgroup?.memoryMb() ?? usage.memoryMb;
      return { ...usage, memoryMb, tasks: Math.max(0, tasks - ownTasks) };
    },
    ranOut: () => ranOut,
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
  return { ...running, usage: () => usageOf(pid), ranOut: () => false, end: () => running.end(0) };
}

const foldersInMemory = ({ folders }: SandboxedProgram) => ["/dev/shm", ...folders];

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
    ...foldersInMemory(program).flatMap(folder),
    ...foldersAbove(mounts.map(({ to }) => to)),
    ...mounts.flatMap(({ from, to, writable }) => [writable ? "--bind" : "--ro-bind", from, to]),
    ...["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", cwd],
    ...(seccompFilter() ? ["--seccomp", "4"] : []),
    ...["--", shell, "-c", gates.inner, "sh"],
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
