import { parseArgs } from "node:util";

/** The options that `mcp` and `serve` share; only the bridge's own are in the environment too. */
export type DaemonOptions = {
  dataDir: string | undefined;
  config: string | undefined;
  logLevel: string | undefined;
};

export const daemonOptionNames = {
  "data-dir": { type: "string" },
  config: { type: "string" },
  "log-level": { type: "string" },
} as const;

/** Throws a TypeError that names the wrong option. Reads no environment. */
export function readDaemonOptions(args: readonly string[]): DaemonOptions {
  const { values } = parseArgs({ args: [...args], options: daemonOptionNames, strict: true });
  return { dataDir: values["data-dir"], config: values.config, logLevel: values["log-level"] };
}

/** The arguments that say the same to another process. */
export function toArguments(options: DaemonOptions): string[] {
  const given: [string, string | undefined][] = [
    ["--data-dir", options.dataDir],
    ["--config", options.config],
    ["--log-level", options.logLevel],
  ];
  return given.flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
}
