import { ShellExit } from "../sh/shell.ts";
import type { Command, CommandContext } from "../system.ts";
import { fail, print } from "./reply.ts";

/** What a shell does itself, and the small programs that scripts are made of. */
export const shellCommands: Readonly<Record<string, Command>> = {
  ":": () => 0,
  true: () => 0,
  false: () => 1,
  cd: () => 0,
  set: () => 0,
  trap: () => 0,
  wait: () => 0,
  kill: () => 0,
  sync: () => 0,
  exit: ([code], { shell }) => {
    throw new ShellExit(code === undefined ? shell.lastCode : Number.parseInt(code, 10) & 255);
  },
  export: (args, { shell }) => {
    for (const arg of args) {
      const [name = "", value] = arg.split(/=(.*)/s, 2);
      if (value !== undefined) shell.variables.set(name, value);
    }
    return 0;
  },
  unset: (names, { shell }) => {
    for (const name of names) shell.variables.delete(name);
    return 0;
  },
  echo: (args, context) => {
    const isOpen = args[0] === "-n";
    return print(context, args.slice(isOpen ? 1 : 0).join(" ") + (isOpen ? "" : "\n"));
  },
  printf: ([format = "", ...args], context) => print(context, formatted(format, args)),
  sleep: async ([seconds], { system, signal }) => {
    await system.wait(Number(seconds) * 1_000, signal);
    return 0;
  },
  test: (args, context) => (isTrue(args, context) ? 0 : 1),
  "[": (args, context) => (isTrue(args.slice(0, -1), context) ? 0 : 1),
  sh: runScript,
  exec: async ([name, ...args], context) => {
    if (name === undefined) return 0;
    const run = context.shell.program(name, args, context);
    throw new ShellExit(run === undefined ? await notFound(name, context) : await run);
  },
  nohup: ([name = "", ...args], context) =>
    context.shell.program(name, args, context) ?? notFound(name, context),
  which: ([name = ""], context) => (context.shell.has(name) ? print(context, `/system/bin/${name}\n`) : 1),
  command: ([option, name = ""], context) =>
    option === "-v" && context.shell.has(name) ? print(context, `/system/bin/${name}\n`) : 1,
  date: ([format], context) => print(context, `${dateText(format)}\n`),
};

const notFound = (name: string, context: CommandContext) =>
  fail(context, `/system/bin/sh: ${name}: inaccessible or not found`, 127);

async function runScript([option, script = "", ...args]: readonly string[], context: CommandContext) {
  const { shell } = context;
  if (option === "-c") return shell.fork(args).run(script, context);
  const parts: Uint8Array[] = [];
  for await (const part of context.stdin) parts.push(part);
  return shell.fork().run(Buffer.concat(parts).toString("utf8"), context);
}

/** %s and %d in their order, and the escapes of a line's end and a tab. */
function formatted(format: string, args: readonly string[]): string {
  let next = 0;
  return format
    .replace(/\\([nt\\])/g, (_, letter: string) => ({ n: "\n", t: "\t" })[letter] ?? "\\")
    .replace(/%[sd%]/g, (found) => (found === "%%" ? "%" : (args[next++] ?? "")));
}

function isTrue(args: readonly string[], context: CommandContext): boolean {
  const [first = "", second = ""] = args;
  const { system } = context;
  if (first === "!") return !isTrue(args.slice(1), context);
  if (first === "-n") return second !== "";
  if (first === "-z") return second === "";
  if (first === "-d") return system.files.isFolder(second);
  if (first === "-f") return system.files.stat(second) !== undefined && !system.files.isFolder(second);
  if (first === "-e" || first === "-r") return system.files.stat(second) !== undefined;
  if (first === "-s") return (system.files.stat(second)?.size ?? 0) > 0;
  return args.length === 1 && first !== "";
}

function dateText(format: string | undefined): string {
  const now = new Date();
  const two = (value: number) => String(value).padStart(2, "0");
  if (format === undefined) return now.toUTCString().replace("GMT", "UTC");
  const values: Readonly<Record<string, string>> = {
    s: String(Math.floor(now.getTime() / 1_000)),
    N: String(now.getUTCMilliseconds()).padStart(3, "0").padEnd(9, "0"),
    Y: String(now.getUTCFullYear()),
    m: two(now.getUTCMonth() + 1),
    d: two(now.getUTCDate()),
    H: two(now.getUTCHours()),
    M: two(now.getUTCMinutes()),
    S: two(now.getUTCSeconds()),
    z: "+0000",
    Z: "UTC",
    T: `${two(now.getUTCHours())}:${two(now.getUTCMinutes())}:${two(now.getUTCSeconds())}`,
    F: `${now.getUTCFullYear()}-${two(now.getUTCMonth() + 1)}-${two(now.getUTCDate())}`,
  };
  return format
    .replace(/^\+/, "")
    .replace(/%([A-Za-z])/g, (found, letter: string) => values[letter] ?? found);
}
