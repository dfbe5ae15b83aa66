import { StringDecoder } from "node:string_decoder";
import type { findSandbox, SandboxMount } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { CallContext, Clock, Secrets } from "../../ports.ts";
import { endText, follow, noSandbox, refusalIn } from "../scripts/index.ts";
import { inside } from "./folder.ts";

/** One file, and each temporary folder. */
const fileMb = 64;
/** What one program may write to the disk in all, rewriting included. */
const writtenMb = 1_024;
/** A disk has some 16 million file entries for all of its users; `npm install` of a large project takes 100,000. */
const diskFiles = 400_000;
const mostRunning = 4;
/** What is left of the call for its answer, when a program takes all its time. */
const answerMs = 2_000;
const tailCharacters = 4_000;
const progressMs = 500;

export type ProgramLimits = { memoryMb: number; processes: number; timeoutMs: number; diskFiles?: number };

export type ProgramDependencies = {
  findSandbox: typeof findSandbox;
  secrets: Secrets;
  clock: Clock;
  limits: ProgramLimits;
};

export type Program = {
  /** Its absolute path inside, and its arguments. */
  command: readonly [string, ...string[]];
  /** The workspace's real path outside. */
  folder: string;
  mounts?: readonly SandboxMount[];
  env?: Readonly<Record<string, string>>;
  stdin?: string | undefined;
  timeout_ms: number;
};

/** `stdout` and `stderr` are the ends of what it said; `cut` says how many characters went before, when any did. */
export type ProgramEnd = {
  /** Left out when a signal ended it. */
  exit_code?: number;
  /** "with exit code 1", "by signal 11". */
  ended: string;
  duration_ms: number;
  stdout: string;
  stderr: string;
  cut?: number;
};

/** Programs on the workspace's folder: without a network, within limits, a few at a time. */
export class Programs {
  private running = 0;

  constructor(private readonly deps: ProgramDependencies) {}

  /**
   * Runs a program to its end, however it ends by itself. Throws SANDBOX_UNAVAILABLE, and for a program that was stopped
   * EXECUTION_TIMEOUT, OUT_OF_MEMORY and INSUFFICIENT_RESOURCES with what it said until then.
   */
  async run(program: Program, context: CallContext): Promise<ProgramEnd> {
    const found = await this.deps.findSandbox(context.signal);
    if (!found.ok) throw noSandbox("Code runs", found);
    if (this.running >= mostRunning) {
      const message = `${mostRunning} programs run in the workspace already.`;
      throw new ToolError("INSUFFICIENT_RESOURCES", message, "Try again when one of them has ended.");
    }
    this.running += 1;
    try {
      return await this.runIn(found.sandbox, program, context);
    } finally {
      this.running -= 1;
    }
  }

  private async runIn(
    sandbox: Parameters<typeof startIn>[0],
    program: Program,
    context: CallContext,
  ): Promise<ProgramEnd> {
    const { clock, secrets, limits } = this.deps;
    const started = clock.monotonic();
    const left = context.deadline - started - answerMs;
    const timeoutMs = Math.max(1, Math.min(program.timeout_ms, limits.timeoutMs, left));
    const running = startIn(sandbox, program, limits);
    const said = throttled(context, clock);
    const [stdout, stderr] = [running.child.stdout, running.child.stderr].map(
      (stream) => new Output(stream, said),
    );
    if (program.stdin !== undefined) running.child.stdin?.write(program.stdin);
    const { memoryMb, processes } = limits;
    const most = {
      memoryMb,
      processes,
      timeoutMs,
      disk: { folder: program.folder, writtenMb, files: limits.diskFiles ?? diskFiles },
    };
    const { exit, overrun } = await follow(running, most, { clock, signal: context.signal, what: "program" });
    context.signal.throwIfAborted();
    const cut = (stdout?.cut ?? 0) + (stderr?.cut ?? 0);
    const end = secrets.mask({
      ...(exit.code !== null && { exit_code: exit.code }),
      duration_ms: clock.monotonic() - started,
      stdout: stdout?.tail ?? "",
      stderr: stderr?.tail ?? "",
      ...(cut > 0 && { cut }),
    });
    if (overrun) throw new ToolError(overrun.code, overrun.message, hints[overrun.code], end);
    return { ...end, ended: endText(exit) };
  }
}

/** Throws the limit that a program met by its own output, and TOOL_FAILED for one that a signal ended. */
export function checkEnd({ ended, ...end }: ProgramEnd): void {
  const refused = end.exit_code === 0 ? undefined : refusalIn(`${end.stdout}\n${end.stderr}`);
  if (refused) {
    const message = `The program ended ${ended}; by its output it met a limit: ${refused.limit}.`;
    throw new ToolError(refused.code, message, hints[refused.code], end);
  }
  if (end.exit_code === undefined || end.exit_code > 128) {
    throw new ToolError(
      "TOOL_FAILED",
      `The program ended ${ended}.`,
      "It crashed or was killed: see its output.",
      end,
    );
  }
}

const hints = {
  EXECUTION_TIMEOUT: "Look for a loop or a wait for input; or raise timeout_ms.",
  OUT_OF_MEMORY: "Work on less at a time, or raise limits.script_memory_mb.",
  INSUFFICIENT_RESOURCES: "Start and write less, or raise limits.script_processes.",
} as const;

type Starting = Extract<Awaited<ReturnType<typeof findSandbox>>, { ok: true }>["sandbox"];

function startIn(sandbox: Starting, program: Program, { memoryMb, processes }: ProgramLimits) {
  const { command, folder, mounts = [], env = {} } = program;
  return sandbox.start({
    command,
    isShared: true,
    cwd: inside,
    folders: ["/tmp"],
    mounts: [...mounts, { from: folder, to: inside, writable: true }],
    // The kernel counts the processes of all programs of one user; `follow` limits each.
    limits: { memoryMb, processes: processes * mostRunning, fileMb },
    env: {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: "/tmp",
      LANG: "C.UTF-8",
      CI: "true",
      NO_COLOR: "1",
      PYTHONUNBUFFERED: "1",
      PYTHONDONTWRITEBYTECODE: "1",
      ...env,
    },
  });
}

/** The end of what a stream says; `cut` is how many characters went before it. */
class Output {
  cut = 0;
  tail = "";

  constructor(stream: NodeJS.ReadableStream | null, said: (text: string) => void) {
    const decoder = new StringDecoder("utf8");
    stream?.on("data", (chunk: Buffer) => {
      this.add(decoder.write(chunk));
      said(this.tail);
    });
    stream?.on("end", () => this.add(decoder.end()));
  }

  private add(text: string): void {
    const whole = this.tail + text;
    this.tail = whole.slice(-tailCharacters);
    this.cut += whole.length - this.tail.length;
  }
}

/** A program may say a line a millisecond. */
function throttled({ progress }: CallContext, clock: Clock): (text: string) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  return (text) => {
    if (clock.monotonic() - lastAt < progressMs) return;
    lastAt = clock.monotonic();
    progress(0, undefined, text.trimEnd().split("\n").at(-1)?.slice(0, 200) ?? "");
  };
}
