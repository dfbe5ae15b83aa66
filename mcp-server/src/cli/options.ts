import { parseArgs } from "node:util";

/** The options that `mcp` and `serve` share; only the bridge's own are in the environment too. */
export type DaemonOptions = {
  dataDir?: string | undefined;
  config?: string | undefined;
  logLevel?: string | undefined;
};

export const daemonOptionNames = {
  "data-dir": { type: "string" },
  config: { type: "string" },
  "log-level": { type: "string" },
} as const;

/** The other settings of a bridge; undefined where none is given. */
export type BridgeOptions = DaemonOptions & {
  skills: string[] | undefined;
  tools: string[] | undefined;
  exclude: string[] | undefined;
  readOnly: boolean | undefined;
};

/** Throws a TypeError that names the wrong option. Reads no environment. */
export function readBridgeOptions(args: readonly string[]): BridgeOptions {
  const names = { type: "string", multiple: true } as const;
  const options = {
    ...daemonOptionNames,
    skills: names,
    tools: names,
    "exclude-tools": names,
    "read-only": { type: "boolean" },
  } as const;
  const { values } = parseArgs({ args: [...args], options, strict: true });
  return {
    dataDir: values["data-dir"],
    config: values.config,
    logLevel: values["log-level"],
    skills: values.skills,
    tools: values.tools,
    exclude: values["exclude-tools"],
    readOnly: values["read-only"],
  };
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
