import type { Process } from "../processes.ts";
import type { Command, CommandContext } from "../system.ts";
import { fail, print, readOptions } from "./reply.ts";

/** Commands that list processes, and those that would run Java programs, which this device cannot. */
export const processCommands: Readonly<Record<string, Command>> = {
  ps: (args, context) => {
    const { options } = readOptions(args, ["-o", "-p"]);
    const columns = options.get("-o")?.split(",");
    const wanted = options.get("-p");
    const found = context.system.processes
      .all()
      .filter(({ pid }) => wanted === undefined || String(pid) === wanted);
    const line = (process: Process) =>
      columns ? columns.map((column) => columnOf(process, column)).join(" ") : psLine(process);
    const head = columns
      ? columns.join(" ").toUpperCase()
      : "USER            PID   PPID     VSZ    RSS WCHAN            ADDR S NAME";
    return print(context, `${[head, ...found.map(line)].join("\n")}\n`);
  },
  pidof: (names, context) => {
    const found = names.flatMap((name) => context.system.processes.find(name)?.pid ?? []);
    return found.length > 0 ? print(context, `${found.join(" ")}\n`) : 1;
  },
  pgrep: (args, context) => {
    const found = matching(args, context);
    if (typeof found === "string") return fail(context, `pgrep: bad regex '${found}'`, 2);
    const line = ({ pid, name }: Process) => (args.includes("-l") ? `${pid} ${name}\n` : `${pid}\n`);
    return found.length > 0 ? print(context, found.map(line).join("")) : 1;
  },
  pkill: (args, context) => {
    const found = matching(args, context);
    if (typeof found === "string") return fail(context, `pkill: bad regex '${found}'`, 2);
    // The user shell may not end what belongs to another user, and nothing here belongs to it.
    return found.length > 0 ? fail(context, "pkill: Operation not permitted") : 1;
  },
  "run-as": ([name = ""], context) =>
    fail(
      context,
      context.system.packages.find(name)
        ? `run-as: package not debuggable: ${name}`
        : `run-as: unknown package: ${name}`,
    ),
  app_process: (args, context) => {
    const name = args.find((arg) => !arg.startsWith("-") && arg !== "/") ?? "";
    return fail(context, `Error: could not find class '${name.replaceAll(".", "/")}'`, 134);
  },
};

/** Processes whose name fits a pattern; the pattern itself where it is none. */
function matching(args: readonly string[], { system }: CommandContext): readonly Process[] | string {
  const { options, rest } = readOptions(args);
  const [wanted = ""] = rest;
  try {
    const pattern = new RegExp(options.has("-x") ? `^(?:${wanted})$` : wanted);
    return system.processes.all().filter(({ name }) => pattern.test(name));
  } catch {
    return wanted;
  }
}

const psLine = ({ user, pid, name }: Process) =>
  `${user.padEnd(12)} ${String(pid).padStart(6)}    301 5400000 120000 0                   0 S ${name}`;

function columnOf({ user, pid, name }: Process, column: string): string {
  const key = column.toUpperCase();
  if (key === "PID") return String(pid);
  if (key === "USER") return user;
  return key === "PPID" ? "301" : name;
}
