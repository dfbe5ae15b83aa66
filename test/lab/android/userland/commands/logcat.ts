import { type LogBuffer, type LogEntry, logLevels } from "../log.ts";
import { entryBytes, entryText, logFormats } from "../logText.ts";
import type { Command, CommandContext, System } from "../system.ts";
import { fail, print, readOptions } from "./reply.ts";

const buffers: readonly LogBuffer[] = ["main", "system", "crash", "events"];
const defaultBuffers: readonly LogBuffer[] = ["main", "system", "crash"];
/** Options with a value, and long names of the same. */
const valued = new Set(["-b", "-v", "-t", "-T", "-e", "-G", "-m", "--pid"]);
const longNames: Readonly<Record<string, string>> = { "--regex": "-e", "--buffer": "-b", "--format": "-v" };

type Wanted = {
  buffers: ReadonlySet<LogBuffer>;
  modifiers: readonly string[];
  isOnce: boolean;
  isBinary: boolean;
  clears: boolean;
  last: number | undefined;
  since: number | undefined;
  accepts(entry: LogEntry): boolean;
};

/** `logcat`: what was written, and with neither -d nor -t also what is written from now on, without an end. */
export const logcat: Command = async (args, context) => {
  const { system } = context;
  const wanted = readWanted(args, system);
  if (typeof wanted === "string") return fail(context, wanted);
  if (wanted.clears) {
    system.log.clear(wanted.buffers);
    return 0;
  }
  if (args.includes("-g")) {
    const sizes = [...wanted.buffers].map((name) => `${name}: ring buffer is 256 KiB (64 KiB consumed)\n`);
    return print(context, sizes.join(""));
  }
  const write = writer(wanted, context);
  const kept = system.log.kept().filter((entry) => isWanted(entry, wanted));
  const written = wanted.last === undefined ? kept : kept.slice(-wanted.last);
  if (wanted.isOnce) {
    await write(written);
    return 0;
  }
  await follow(written, wanted, context, write);
  return 0;
};

export const log: Command = (args, { system }) => {
  const { options, rest } = readOptions(args, ["-p", "-t"]);
  const level = logLevels.find((one) => one.toLowerCase() === options.get("-p")) ?? "I";
  const pid = system.processes.pidOf("adbd");
  system.log.write({ pid, level, tag: options.get("-t") ?? "log", buffer: "main" }, rest.join(" "));
  return 0;
};

function isWanted(entry: LogEntry, { buffers: some, since, accepts }: Wanted): boolean {
  return some.has(entry.buffer) && (since === undefined || entry.at > since) && accepts(entry);
}

/** Writes until the reader is gone; what comes meanwhile waits its turn. */
async function follow(
  kept: readonly LogEntry[],
  wanted: Wanted,
  { system, signal }: CommandContext,
  write: (entries: readonly LogEntry[]) => Promise<void>,
): Promise<void> {
  let waiting = [...kept];
  let wake = () => {};
  const ignore = system.log.onEntry((entry) => {
    if (isWanted(entry, wanted)) waiting.push(entry);
    wake();
  });
  const stop = () => wake();
  signal.addEventListener("abort", stop);
  while (!signal.aborted) {
    const batch = waiting;
    waiting = [];
    if (batch.length > 0) await write(batch);
    else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  signal.removeEventListener("abort", stop);
  ignore();
}

/** A line says where each buffer begins. */
function writer({ isBinary, modifiers }: Wanted, { out }: CommandContext) {
  const begun = new Set<LogBuffer>();
  return async (entries: readonly LogEntry[]) => {
    if (isBinary) return void (await out(Buffer.concat(entries.map(entryBytes))));
    const lines = entries.map((entry) => {
      const head = begun.has(entry.buffer) ? "" : `--------- beginning of ${entry.buffer}\n`;
      begun.add(entry.buffer);
      return `${head}${entryText(entry, modifiers)}\n`;
    });
    await out(lines.join(""));
  };
}

function readWanted(args: readonly string[], system: System): Wanted | string {
  const { values, flags, filters } = readArguments(args);
  const listed = (option: string) => (values.get(option) ?? []).flatMap((value) => value.split(","));
  const modifiers = listed("-v");
  const unknown = modifiers.find((modifier) => !logFormats.has(modifier));
  if (unknown !== undefined) return `Invalid parameter "${unknown}" to -v`;
  const tail = values.get("-t")?.at(-1) ?? values.get("-T")?.at(-1);
  const isCount = tail === undefined || /^\d+$/.test(tail);
  const since = isCount ? undefined : timeOf(tail, system.parts.clock.now());
  if (Number.isNaN(since)) return `-t "${tail}" not in time format`;
  return {
    buffers: buffersOf(listed("-b")),
    modifiers,
    isOnce: flags.has("-d") || values.has("-t"),
    isBinary: flags.has("-B"),
    clears: flags.has("-c"),
    last: isCount && tail !== undefined ? Number(tail) : undefined,
    since,
    accepts: filterOf(filters, flags.has("-s"), values.get("-e")?.[0], values.get("--pid")?.[0]),
  };
}

function buffersOf(asked: readonly string[]): ReadonlySet<LogBuffer> {
  if (asked.length === 0 || asked.includes("default")) return new Set(defaultBuffers);
  return new Set(asked.includes("all") ? buffers : buffers.filter((name) => asked.includes(name)));
}

function readArguments(args: readonly string[]) {
  const values = new Map<string, string[]>();
  const flags = new Set<string>();
  const filters: string[] = [];
  const left = args.flatMap((arg) => (/^--\w+=/.test(arg) ? arg.split(/=(.*)/s, 2) : [arg]));
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const arg = longNames[next] ?? next;
    if (valued.has(arg)) values.set(arg, [...(values.get(arg) ?? []), left.shift() ?? ""]);
    else if (arg.startsWith("-")) flags.add(arg);
    else filters.push(arg);
  }
  return { values, flags, filters };
}

/** `MM-DD hh:mm:ss.mmm`, `YYYY-MM-DD hh:mm:ss.mmm` or seconds since 1970; NaN for another text. */
function timeOf(text: string, now: number): number {
  if (/^\d+\.\d+$/.test(text)) return Number(text) * 1_000;
  const year = /^\d{4}-/.test(text) ? "" : `${new Date(now).getUTCFullYear()}-`;
  return Date.parse(`${year}${text.replace(" ", "T")}Z`);
}

/** Filters such as `AndroidRuntime:E *:S`: the lowest level that a tag is shown with. */
function filterOf(
  filters: readonly string[],
  isSilent: boolean,
  pattern: string | undefined,
  pid: string | undefined,
): (entry: LogEntry) => boolean {
  const levels = new Map(
    filters.map((filter): [string, string] => {
      const [tag = "", level = "V"] = filter.split(":");
      return [tag, level.toUpperCase()];
    }),
  );
  const regex = pattern === undefined ? undefined : new RegExp(pattern);
  const order = "VDIWEFS";
  return ({ tag, level, text, pid: own }) => {
    const lowest = levels.get(tag) ?? levels.get("*") ?? (isSilent ? "S" : "V");
    const isShown = logLevels.indexOf(level) >= order.indexOf(lowest);
    return isShown && (regex?.test(text) ?? true) && (pid === undefined || Number(pid) === own);
  };
}
