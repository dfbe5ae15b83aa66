import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Environment } from "../config/places.ts";

export function withDaemonOptions(command: Command): Command {
  return command
    .option("--data-dir <dir>", "the folder of the server's data (LABWRIGHT_DATA_DIR)")
    .option("--config <file>", "labwright.yaml (LABWRIGHT_CONFIG)")
    .option("--trust-config", "trusts the labwright.yaml of the working directory this time, for CI")
    .addOption(
      new Option(
        "--log-level <level>",
        "how much a daemon logs that this command starts (LABWRIGHT_LOG_LEVEL)",
      ).choices(["trace", "debug", "info", "warn", "error", "silent"]),
    );
}

/** A file that is named is trusted, so --trust-config names the one of the working directory. */
export function nameTrustedConfig(command: Command, { cwd, env }: { cwd: string; env: Environment }): void {
  const { trustConfig, config } = command.opts<{ trustConfig?: boolean; config?: string }>();
  const file = join(cwd, "labwright.yaml");
  if (trustConfig && config === undefined && !env.LABWRIGHT_CONFIG && existsSync(file))
    command.setOptionValue("config", file);
}

export const examples = (...lines: string[]) => `\nExamples:\n${lines.map((line) => `  ${line}\n`).join("")}`;

export function readCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new InvalidArgumentError("It is a whole number, 0 or more.");
}

/** A whole number within bounds. */
export const readUpTo = (least: number, most: number) => (text: string) => {
  const count = readCount(text);
  if (count >= least && count <= most) return count;
  throw new InvalidArgumentError(`It is ${least} to ${most}.`);
};
