import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pairAndroid, recordAndroid } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

/** `labwright android pair`: has the user's adb server trusted by a device on the network. */
export async function runPair(
  address: string,
  { code }: { code?: string | undefined },
  terminal: Terminal,
): Promise<ExitCode> {
  const given = code ?? (await terminal.ask?.("The code that the device shows: "));
  if (given === undefined) {
    throw new ToolError(
      "INVALID_INPUT",
      "There is no terminal to type the code in.",
      "Give it with --code, as the device shows it.",
    );
  }
  await pairAndroid({ address, code: given.trim() }, terminal.env, terminal.signal);
  terminal.out(
    `Paired with ${address}. "Wireless debugging" on the device shows another address: put that one into labwright.yaml as controllers.android.address of the device.\n`,
  );
  return exitCodes.passed;
}

/** `labwright android record`: what a device says of itself, as a file that the laboratory can play. */
export async function runRecord(
  serial: string | undefined,
  { out }: { out: string },
  terminal: Terminal,
): Promise<ExitCode> {
  const recording = await recordAndroid({
    serial,
    signal: terminal.signal,
    progress: (line) => terminal.err(`[record] ${line}\n`),
  });
  const file = resolve(terminal.cwd, out);
  // Existing files are not overwritten.
  await writeFile(file, `${JSON.stringify(recording, undefined, 2)}\n`, { flag: "wx", mode: 0o600 });
  terminal.out(`${file}: ${recording.about}. Look through it before you pass it on.\n`);
  return exitCodes.passed;
}
