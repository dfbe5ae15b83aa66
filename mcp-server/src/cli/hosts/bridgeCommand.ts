import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { nearest } from "@labwright/controllers";
import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { namesIn } from "../../registry/subset.ts";
import { packageFolder } from "../../storage/engine/packageFolder.ts";
import { readBridgeOptions } from "../options.ts";

/** How a host starts the bridge. `env` is what the bridge gets besides the host's own environment. */
export type BridgeCommand = { command: string; args: string[]; env: Record<string, string> };

/** An installation of Labwright: the program that runs it and the absolute path of `bin/labwright.js`. */
export type Installation = { node: string; program: string };

/** The settings of the bridge. Paths may be relative to `cwd`; `skills` is a list with commas. */
export type BridgeSettings = {
  config?: string | undefined;
  dataDir?: string | undefined;
  skills?: string | undefined;
  cwd: string;
};

export function thisInstallation(): Installation {
  return {
    node: process.execPath,
    program: join(packageFolder(), "bin", "labwright.js"),
  };
}

/**
 * The command that starts the bridge of `installation`: this Node with the program's absolute path. It never names a package,
 * which a registry could give to another project. Throws INVALID_INPUT when this build's bridge would refuse the settings, and
 * for an installation in npx's cache, which npx empties as it likes.
 */
export function bridgeCommand(installation: Installation, settings: BridgeSettings): BridgeCommand {
  if (isInNpxCache(installation.program)) {
    throw new ToolError(
      "INVALID_INPUT",
      "This Labwright is in npx's cache, which npm may empty. A host could not start it later.",
      "Install its packed file, with npm install -g FILE or in a folder of yours, and run this from there.",
    );
  }
  const given = bridgeArguments(installation.program, settings);
  const env: Record<string, string> =
    settings.dataDir === undefined ? {} : { LABWRIGHT_DATA_DIR: resolve(settings.cwd, settings.dataDir) };
  return { command: installation.node, args: [installation.program, "mcp", ...given], env };
}

/** npm unpacks what npx runs into `<cache>/_npx/<hash>/node_modules`. */
const isInNpxCache = (program: string) => /[/\\]_npx[/\\]/.test(program);

function bridgeArguments(program: string, { config, skills, cwd }: BridgeSettings): string[] {
  const args = [...configArguments(config, cwd), ...skillsArguments(program, skills)];
  try {
    readBridgeOptions(args);
  } catch (error) {
    throw new ToolError(
      "INVALID_INPUT",
      `The bridge of this build refuses ${args.join(" ")}: ${error instanceof Error ? error.message : String(error)}`,
      "Leave the option out; labwright mcp --help lists what the bridge takes.",
    );
  }
  return args;
}

function configArguments(config: string | undefined, cwd: string): string[] {
  if (config === undefined) return [];
  const file = resolve(cwd, config);
  if (existsSync(file)) return ["--config", file];
  throw new ToolError("INVALID_INPUT", `There is no file at ${file}.`, "Name an existing labwright.yaml.");
}

function skillsArguments(program: string, skills: string | undefined): string[] {
  if (skills === undefined) return [];
  const names = namesIn([skills]);
  const known = knownSkills(program);
  const wrong = names.find((name) => (known ? !known.includes(name) : !/^[a-z0-9][a-z0-9-]*$/.test(name)));
  if (names.length > 0 && wrong === undefined) return ["--skills", names.join(",")];
  throw new ToolError(
    "INVALID_INPUT",
    wrong === undefined ? "--skills names no skill." : `There is no skill "${wrong}".`,
    `Skills: ${known?.join(", ") ?? "see labwright mcp --help"}`,
    { nearest: nearest(wrong ?? "", known ?? []) },
  );
}

const catalogueSchema = z.object({ skills: z.array(z.object({ name: z.string() })) });

/** The skills of the installation's build, by name; undefined when there is no build to ask. */
function knownSkills(program: string): string[] | undefined {
  const file = join(dirname(dirname(program)), "dist", "catalogue.json");
  if (!existsSync(file)) return undefined;
  const parsed = catalogueSchema.safeParse(JSON.parse(readFileSync(file, "utf8")));
  return parsed.success ? parsed.data.skills.map(({ name }) => name) : undefined;
}
