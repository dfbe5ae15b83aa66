import { spawn } from "node:child_process";
import { join } from "node:path";
import { type Addons, nearest } from "@labwright/controllers";
import { dataDirectory } from "../../config/places.ts";
import { ToolError } from "../../errors.ts";
import { ownAddons } from "../../storage/engine/ownAddons.ts";
import { packageFolder } from "../../storage/engine/packageFolder.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

/** `labwright setup`: the set-up of the two README commands, by hand. Its output goes straight to the terminal. */
export async function runSetup(options: { for: string }, terminal: Terminal): Promise<ExitCode> {
  const script = join(packageFolder(), "bin", "setup.mjs");
  const child = spawn(process.execPath, [script, "--for", options.for], {
    stdio: ["ignore", "inherit", "inherit"],
    signal: terminal.signal,
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("exit", resolve);
  });
  if (terminal.signal.aborted) return exitCodes.interrupted;
  return code === 0 ? exitCodes.passed : exitCodes.error;
}

/** `labwright setup <part> ...`: installs the add-ons of these parts into the data directory. */
export function runSetupOfParts(
  { parts, dataDir }: { parts: readonly string[]; dataDir: string | undefined },
  terminal: Terminal,
): Promise<ExitCode> {
  return setUpParts(parts, ownAddons(dataDirectory(terminal.env, dataDir).path), terminal);
}

/** Throws INVALID_INPUT for an unknown part, before it installs any. */
export async function setUpParts(
  parts: readonly string[],
  addons: Addons,
  terminal: Terminal,
): Promise<ExitCode> {
  const known = [...new Set(addons.list().map(({ part }) => part))];
  const unknown = parts.find((part) => !known.includes(part));
  if (unknown !== undefined) throw unknownPart(unknown, known);
  for (const { name, part, start } of addons.list()) {
    if (!parts.includes(part)) continue;
    await addons.install(name, {
      signal: terminal.signal,
      progress: (line) => terminal.out(`[setup] ${line}\n`),
    });
    if (start !== undefined)
      terminal.out(`[setup] ${name}: start it with: node ${join(addons.folder(name), start)}\n`);
  }
  return exitCodes.passed;
}

function unknownPart(part: string, known: readonly string[]): ToolError {
  const [near] = nearest(part, known, 1);
  const offer = near === undefined ? `Its parts: ${known.join(", ")}.` : `Did you mean ${near}?`;
  return new ToolError(
    "INVALID_INPUT",
    `There is no part "${part}" to set up.`,
    known.length > 0 ? offer : "This build has no parts: labwright setup alone sets up all of it.",
    { parts: known },
  );
}
