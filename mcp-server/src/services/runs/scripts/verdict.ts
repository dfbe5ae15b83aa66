import { StringDecoder } from "node:string_decoder";
import { z } from "zod";
import { paramsSchema } from "../../../domain/index.ts";
import type { ScriptEnd } from "../../ports.ts";

/** What a script may say of how it ended: see scripts/README.md. */
const saidSchema = z.object({
  labwright: z.strictObject({
    status: z.enum(["passed", "failed"]),
    message: z.string().max(2_000).optional(),
    outputs: paramsSchema.default({}),
  }),
});
export type Said = z.output<typeof saidSchema>["labwright"];

export type Exit = { code: number | null; signal: string | null };
type Verdict = Pick<ScriptEnd, "status" | "reason"> & { message?: string; outputs: Said["outputs"] };

/** The file's word, else that of the last line of output if it is one; `problem` when it should be one and is not. */
export function readSaid(file: string, lastLine: string): { said?: Said; problem?: string } {
  const text = file.trim() || (lastLine.trim().startsWith('{"labwright"') ? lastLine : "");
  if (text === "") return {};
  try {
    const parsed = saidSchema.safeParse(JSON.parse(text));
    return parsed.success ? { said: parsed.data.labwright } : { problem: z.prettifyError(parsed.error) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

const failure = (status: "failed" | "error", message: string, code = "SCRIPT_FAILED") => ({
  status,
  reason: { code, message },
});

/** What the interpreters say when the sandbox refuses them more. */
const refusals = [
  {
    pattern: /MemoryError|Cannot allocate memory|out of memory|allocation failed|cannot allocate/i,
    code: "OUT_OF_MEMORY",
    limit: "limits.script_memory_mb",
  },
  {
    pattern:
      /fork: .*Resource temporarily unavailable|can't start new thread|BlockingIOError|spawn \S+ EAGAIN/,
    code: "INSUFFICIENT_RESOURCES",
    limit: "limits.script_processes",
  },
  {
    pattern: /No space left on device|File too large|File size limit/,
    code: "INSUFFICIENT_RESOURCES",
    limit: "64 MB of files",
  },
] as const;

/** The limit that a program met, by its log; undefined when the log names none. */
export const refusalIn = (log: string) => refusals.find(({ pattern }) => pattern.test(log));

/** A script passes when it ends with code 0 and does not say otherwise. */
export function verdictOf(exit: Exit, word: ReturnType<typeof readSaid>, log: string): Verdict {
  const { said, problem } = word;
  const outputs = said?.outputs ?? {};
  const more = { outputs, ...(said?.message !== undefined && { message: said.message }) };
  if (problem !== undefined) return { ...failure("error", `Its result cannot be read: ${problem}`), ...more };
  if (exit.code === 0) {
    if (said?.status !== "failed") return { status: "passed", ...more };
    return { ...failure("failed", said.message ?? "The script says that it failed."), ...more };
  }
  const refused = refusalIn(log);
  if (refused) {
    const message = `The script ended ${endText(exit)}; by its log it met a limit: ${refused.limit}.`;
    return { ...failure("error", message, refused.code), ...more };
  }
  const isSignal = exit.code === null || exit.code > 128;
  return { ...failure(isSignal ? "error" : "failed", `The script ended ${endText(exit)}.`), ...more };
}

/** A sandbox gives back 128 and the signal's number. */
export function endText({ code, signal }: Exit): string {
  if (code === null) return `by ${signal ?? "a signal"}`;
  return code > 128 ? `by signal ${code - 128}` : `with exit code ${code}`;
}

const mostBytes = 1_000_000;
const mostLineCharacters = 100_000;
const tail = { lines: 20, characters: 2_000 };

/** What a script says, line by line and bounded: its whole log, the end of it, and its last line of output. */
export class ScriptLog {
  /** The last line of standard output that is not empty. */
  lastOutput = "";
  private readonly lines: string[] = [];
  private bytes = 0;
  private lost = 0;
  private readonly onLine: (line: string) => void;

  constructor(onLine: (line: string) => void) {
    this.onLine = onLine;
  }

  read(stream: NodeJS.ReadableStream | null, isOutput: boolean): void {
    const decoder = new StringDecoder("utf8");
    let rest = "";
    const take = (text: string) => {
      const all = rest + text;
      const end = all.lastIndexOf("\n") + 1;
      rest = all.slice(end, end + mostLineCharacters);
      if (end > 0) this.take(all.slice(0, end - 1), isOutput);
    };
    stream?.on("data", (chunk: Buffer) => take(decoder.write(chunk)));
    stream?.on("end", () => take(rest === "" ? "" : "\n"));
  }

  get whole(): string {
    const cut = this.lost > 0 ? [`[${this.lost} more lines are not kept]`] : [];
    return [...this.lines, ...cut].join("\n");
  }

  get tail(): string {
    const lines = this.lines.filter((line) => line.trim() !== "").slice(-tail.lines);
    return lines.join("\n").slice(-tail.characters);
  }

  /** A script may write a million short lines a second: past the log's end they are counted, and the last one is read. */
  private take(text: string, isOutput: boolean): void {
    if (this.bytes <= mostBytes) {
      for (const line of text.split("\n")) this.add(line, isOutput);
      return;
    }
    this.lost += 1;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.lost += 1;
    const said = text.trimEnd();
    if (said !== "") this.say(said.slice(said.lastIndexOf("\n") + 1), isOutput);
  }

  private add(line: string, isOutput: boolean): void {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (text.trim() !== "") this.say(text, isOutput);
    this.bytes += Buffer.byteLength(text) + 1;
    if (this.bytes > mostBytes) this.lost += 1;
    else this.lines.push(text);
  }

  private say(text: string, isOutput: boolean): void {
    if (isOutput) this.lastOutput = text;
    this.onLine(text.slice(0, 200));
  }
}
