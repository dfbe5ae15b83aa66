import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { z } from "zod";
import { ToolError } from "../../errors.ts";
import type { DaemonOptions } from "../options.ts";
import { done } from "../run/connection.ts";
import { counted, type ExitCode, exitCodes, type Terminal } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import { importFiles, yamlFilesAt } from "./files.ts";

/** `labwright import <file or folder...>`: saves apps and tests, those of the same name replaced. */
export async function runImport(
  paths: readonly string[],
  options: Partial<DaemonOptions>,
  terminal: Terminal,
): Promise<ExitCode> {
  const files = [...new Set(paths.flatMap((path) => yamlFilesAt(terminal.cwd, path)))];
  const imported = await withDaemon(options, terminal, { command: "import" }, (connection) =>
    importFiles(files, connection, terminal),
  );
  for (const { file, app, tests } of imported) {
    const ofTests = counted(tests.length, "test");
    terminal.out(`${file}: ${app === undefined ? ofTests : `app ${app}, ${ofTests}`}\n`);
  }
  return exitCodes.passed;
}

export type ExportOptions = Partial<DaemonOptions> & {
  out?: string | undefined;
  force?: boolean | undefined;
};

/** `labwright export <app>`: its nodes, edges, tests and references as YAML, on stdout or into a file. */
export async function runExport(app: string, options: ExportOptions, terminal: Terminal): Promise<ExitCode> {
  const file = options.out === undefined ? undefined : resolve(terminal.cwd, options.out);
  if (file !== undefined && existsSync(file) && options.force !== true)
    throw new ToolError("INVALID_INPUT", `${options.out} is there already.`, "Add --force to replace it.");
  const exported = await withDaemon(options, terminal, { command: "export" }, ({ call }) =>
    done(call("export_userinterface", { userinterface_name: app }, terminal.signal)),
  );
  const { yaml } = z.looseObject({ yaml: z.string() }).parse(exported);
  if (file === undefined) terminal.out(yaml);
  else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, yaml);
    terminal.out(`${relative(terminal.cwd, file)}\n`);
  }
  return exitCodes.passed;
}
