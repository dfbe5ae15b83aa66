import { existsSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "../../../errors.ts";
import { findInterpreter } from "../scripts/index.ts";
import { inside } from "./folder.ts";
import type { Program } from "./program.ts";

export type Runner = "vitest" | "playwright" | "pytest";

/** Where a runner writes its JUnit file, inside. */
export const resultFile = "/run/labwright/result";

type Runs = Pick<Program, "command" | "mounts" | "env">;

/** The command of a runner on the workspace. Throws TOOL_FAILED when it is not installed there. */
export async function runnerCommand(
  runner: Runner,
  args: readonly string[],
  folder: string,
  signal: AbortSignal,
): Promise<Runs> {
  const { command, places } = await findInterpreter(runner === "pytest" ? "python" : "node", signal);
  const mounts = places.map((place) => ({ from: place, to: place }));
  switch (runner) {
    case "pytest":
      return {
        command: [...command, "-m", "pytest", "-p", "no:cacheprovider", `--junitxml=${resultFile}`, ...args],
        mounts,
      };
    case "vitest": {
      const file = installed(folder, "vitest", ["vitest/vitest.mjs"]);
      const report = ["--reporter=default", "--reporter=junit", `--outputFile.junit=${resultFile}`];
      return { command: [...command, file, "run", ...report, ...args], mounts };
    }
    case "playwright": {
      const file = installed(folder, "@playwright/test", ["@playwright/test/cli.js", "playwright/cli.js"]);
      return {
        command: [...command, file, "test", "--reporter=list,junit", ...args],
        mounts,
        env: { PLAYWRIGHT_JUNIT_OUTPUT_FILE: resultFile },
      };
    }
  }
}

function installed(folder: string, name: string, files: readonly string[]): string {
  const file = files.find((one) => existsSync(join(folder, "node_modules", one)));
  if (file !== undefined) return `${inside}/node_modules/${file}`;
  throw notInstalled(name, `npm install --save-dev ${name}`, folder);
}

export const notInstalled = (name: string, command: string, folder: string) =>
  new ToolError(
    "TOOL_FAILED",
    `${name} is not installed for the workspace, so no test was run.`,
    `Code in the sandbox has no network: a person runs \`${command}\` in ${folder}, or folders.workspace names a project that has it.`,
  );
