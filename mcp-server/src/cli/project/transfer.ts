import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { z } from "zod";
import { findProject } from "../../config/places.ts";
import { ToolError } from "../../errors.ts";
import type { DaemonOptions } from "../options.ts";
import { done } from "../run/connection.ts";
import { counted, type ExitCode, exitCodes, type Terminal } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import { schemaPath } from "./content.ts";
import { hashOf, loadFiles } from "./files.ts";

/** `labwright import <file or folder...>`: loads apps and tests that changed, and archives those that are no longer in the folders. */
export async function runImport(
  paths: readonly string[],
  options: DaemonOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { files, archived } = await withDaemon(options, terminal, { command: "import" }, (connection) =>
    loadFiles(paths, connection, terminal),
  );
  for (const { file, app, tests, changed } of files) {
    const ofTests = counted(tests.length, "test");
    const held = app === undefined ? ofTests : `app ${app}, ${ofTests}`;
    terminal.out(`${file}: ${held}${changed ? "" : ", as before"}\n`);
  }
  if (archived.length > 0) terminal.out(`archived: ${archived.join(", ")}\n`);
  return exitCodes.passed;
}

export type ExportOptions = DaemonOptions & {
  out?: string | undefined;
  force?: boolean | undefined;
};

/** `labwright export <app>`: its nodes, edges, tests and references as YAML, on stdout or into a file. */
export async function runExport(app: string, options: ExportOptions, terminal: Terminal): Promise<ExitCode> {
  const file = options.out === undefined ? undefined : resolve(terminal.cwd, options.out);
  if (file !== undefined && existsSync(file) && options.force !== true)
    throw new ToolError("INVALID_INPUT", `${options.out} exists already.`, "Add --force to replace it.");
  return withDaemon(options, terminal, { command: "export" }, async ({ call }) => {
    const named = { userinterface_name: app };
    const schema = file === undefined ? undefined : schemaPath(file, "app", terminal.cwd);
    const asked = { ...named, ...(schema !== undefined && { schema }) };
    const exported = await done(call("export_userinterface", asked, terminal.signal));
    const { yaml } = z.looseObject({ yaml: z.string() }).parse(exported);
    if (file === undefined) {
      terminal.out(yaml);
      return exitCodes.passed;
    }
    mkdirSync(dirname(file), { recursive: true });
    const project = findProject(dirname(file));
    writeFileSync(file, yaml);
    terminal.out(`${relative(terminal.cwd, file)}\n`);
    if (project === undefined) return exitCodes.passed;
    const place = { project, file: relative(project, realpathSync(file)).replaceAll("\\", "/") };
    const keep_in = { ...named, ...place, hash: hashOf(yaml) };
    await done(call("import_userinterface", { keep_in }, terminal.signal));
    return exitCodes.passed;
  });
}
