import { realpath } from "node:fs/promises";
import { findProgram, runProgram } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { Language } from "../../ports.ts";

/** What runs a language: its command, and where it lies beside /usr, to be shown inside a sandbox at the same path. */
export type Interpreter = { command: readonly [string, ...string[]]; places: readonly string[] };

const answerMs = 10_000;
const where = "import sys; print(sys.executable); print(sys.prefix); print(sys.base_prefix)";

/** Throws SCRIPT_FAILED when the language is not installed. */
export async function findInterpreter(language: Language, signal: AbortSignal): Promise<Interpreter> {
  if (language === "node") {
    const file = await realpath(process.execPath);
    return { command: [file], places: beyondUsr([file]) };
  }
  const name = language === "python" ? "python3" : "bash";
  const file = findProgram(name);
  if (file === undefined) throw missing(name);
  // Debian's bash takes a socket as input for a remote login, which reads its settings.
  if (language === "bash") return { command: [file, "--norc"], places: beyondUsr([file]) };
  // What is on the PATH may be a script of a version manager; the program itself knows where it lies.
  const { code, stdout } = await runProgram(file, ["-c", where], { signal, timeoutMs: answerMs });
  const [program, ...places] = stdout.trim().split("\n");
  if (code !== 0 || !program) throw missing(name);
  return { command: [program], places: beyondUsr(places) };
}

const beyondUsr = (paths: readonly string[]) =>
  [...new Set(paths)].filter((path) => !/^\/(usr|bin|sbin|lib\d*)(\/|$)/.test(path));

const missing = (name: string) =>
  new ToolError(
    "SCRIPT_FAILED",
    `There is no ${name} on this host that works, so nothing was run.`,
    `Install it (sudo apt-get install -y ${name}) so that it is on the server's PATH.`,
  );
