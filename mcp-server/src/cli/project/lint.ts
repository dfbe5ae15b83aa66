import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { z } from "zod";
import { loadConfig } from "../../config.ts";
import { ToolError } from "../../errors.ts";
import type { DaemonOptions } from "../options.ts";
import { done, type RunConnection } from "../run/connection.ts";
import { counted, type ExitCode, exitCodes, type Terminal } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import { filesNeededBy, projectFilesAt } from "./files.ts";

const isConfig = (file: string) => /^labwright\.ya?ml$/.test(basename(file));

/**
 * `labwright lint [path...]`: what is wrong and what is weak in apps, tests and `labwright.yaml`. Opens no device and saves
 * nothing. Exit code 2 when something is wrong; what is weak alone gives 0.
 */
export async function runLint(
  paths: readonly string[],
  options: DaemonOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { cwd } = terminal;
  const own = join(cwd, "labwright.yaml");
  const given = paths.length > 0 ? paths : ["labwright", ...(existsSync(own) ? [own] : [])];
  const named = [...new Set(given.flatMap((path) => projectFilesAt(cwd, path)))];
  const configs = named.filter(isConfig);
  const ofProject = named.filter((path) => !isConfig(path));
  const all = [...named, ...filesNeededBy(ofProject, cwd)];
  const files = all
    .filter((path) => !isConfig(path))
    .map((path) => ({ file: relative(cwd, path), yaml: readFileSync(path, "utf8") }));
  const ofConfigs = configs.flatMap((path) => configFindings(path, terminal));
  // The server reads the one of the working folder, and does not start with what is wrong there.
  const isOwn = configs.includes(own) && ofConfigs.length > 0;
  const none = { findings: [], apps: 0, tests: 0, unchecked: 0 };
  const examined =
    files.length === 0 || isOwn
      ? { ...none, unchecked: isOwn ? files.length : 0 }
      : await withDaemon(options, terminal, { command: "lint" }, (connection) =>
          examine(files, connection, terminal),
        );
  const findings = [...ofConfigs, ...examined.findings];
  terminal.out(findings.map(findingText).join(""));
  terminal.out(`${summary({ ...examined, findings }, all.length, isOwn)}\n`);
  return findings.some(({ weak }) => !weak) ? exitCodes.error : exitCodes.passed;
}

const problemsSchema = z.object({
  problems: z.array(
    z.object({
      file: z.string(),
      line: z.number().default(1),
      column: z.number().default(1),
      path: z.string(),
      message: z.string(),
    }),
  ),
});

function configFindings(path: string, { env, cwd }: Terminal): Finding[] {
  try {
    loadConfig({ command: "lint", options: { config: path }, env, cwd });
    return [];
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { problems } = problemsSchema.parse(error.details);
    return problems.map(({ file, path: at, message, line, column }) => ({
      ...{ file: relative(cwd, file), line, column },
      message: at === "" || message.includes(at) ? message : `${at}: ${message}`,
    }));
  }
}

function summary({ findings, apps, tests, unchecked }: Examination, files: number, isOwn: boolean): string {
  const weak = findings.filter((finding) => finding.weak).length;
  const wrong = findings.length - weak;
  const found = wrong === 0 ? "nothing is wrong" : counted(wrong, "error");
  const warnings = weak === 0 ? "" : `, ${counted(weak, "warning")}`;
  const skipped = isOwn
    ? `\nApps and tests were not checked: ${counted(unchecked, "file")}. Correct labwright.yaml first.`
    : `\n${counted(unchecked, "test")} not checked: the file of the app is wrong. Correct it first.`;
  return `${counted(files, "file")} with ${counted(apps, "app")} and ${counted(tests, "test")}: ${found}${warnings}${unchecked > 0 ? skipped : ""}`;
}

const examinationSchema = z.looseObject({
  findings: z.array(
    z.object({
      file: z.string(),
      line: z.number(),
      column: z.number(),
      message: z.string(),
      weak: z.boolean().optional(),
    }),
  ),
  apps: z.number(),
  tests: z.number(),
  unchecked: z.number(),
});
export type Examination = z.output<typeof examinationSchema>;
export type Finding = Examination["findings"][number];

/** The server's findings about files that belong together. Stores nothing. */
export async function examine(
  files: readonly { file: string; yaml: string }[],
  { call }: Pick<RunConnection, "call">,
  { signal }: Pick<Terminal, "signal">,
): Promise<Examination> {
  const args = { dry_run: { files } };
  return examinationSchema.parse(await done(call("import_userinterface", args, signal)));
}

/** A line as compilers write it, so that editors find the place. */
export const findingText = ({ file, line, column, message, weak }: Finding): string =>
  `${file}:${line}:${column}: ${weak ? "warning" : "error"}: ${message}\n`;
