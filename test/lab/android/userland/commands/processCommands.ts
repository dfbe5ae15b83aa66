import type { Process } from "../processes.ts";
import type { Command } from "../system.ts";
import { print, readOptions } from "./reply.ts";

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
};

const psLine = ({ user, pid, name }: Process) =>
  `${user.padEnd(12)} ${String(pid).padStart(6)}    301 5400000 120000 0                   0 S ${name}`;

function columnOf({ user, pid, name }: Process, column: string): string {
  const key = column.toUpperCase();
  if (key === "PID") return String(pid);
  if (key === "USER") return user;
  return key === "PPID" ? "301" : name;
}
