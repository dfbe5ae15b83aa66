import { join } from "node:path";
import type { DiagnosisFinding } from "@labwright/controllers";
import { z } from "zod";
import { builtInFactories } from "../../config/controllers.ts";
import { dataDirProblem } from "../../config/dataDir.ts";
import { dataDirectory } from "../../config/places.ts";
import { settingsToTrust } from "../../config/trust.ts";
import { type Config, loadConfig } from "../../config.ts";
import { ToolError } from "../../errors.ts";
import { findRunningDaemon } from "../../server/bridge/findDaemon.ts";
import { checkDatabase } from "../../services/lab/diagnosis/database.ts";
import { examine, examineMachine } from "../../services/lab/diagnosis/index.ts";
import { checkPort } from "../../services/lab/diagnosis/machine.ts";
import { isAnywhere } from "../../services/policy/secretBounds.ts";
import { createSecrets } from "../../services/policy/secrets.ts";
import { isDataDirLocked } from "../../storage/engine/lock.ts";
import { readKnownSkills } from "../commands/skills.ts";
import type { DaemonOptions } from "../options.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

const defaultPort = 7333;

/** `labwright doctor`: what is installed, what is missing, and how to repair it. Starts no daemon. Exit code 1 when something is missing. */
export async function runDoctor(
  options: DaemonOptions & { json?: boolean | undefined },
  terminal: Terminal,
): Promise<ExitCode> {
  const findings = await findAll(options, terminal);
  terminal.out(options.json ? `${JSON.stringify({ findings }, null, 2)}\n` : table(findings));
  return findings.some(({ status }) => status === "missing") ? exitCodes.failed : exitCodes.passed;
}

async function findAll(options: DaemonOptions, terminal: Terminal): Promise<DiagnosisFinding[]> {
  const { env, signal } = terminal;
  const dataDir = dataDirectory(env, options.dataDir).path;
  const { config, findings } = readConfig(options, terminal);
  const daemon = await checkDaemon(dataDir);
  if (config === undefined) return [...examineMachine(dataDir, env), ...findings, daemon.finding];
  const port = config.server.port ?? (config.is_default_data_dir ? defaultPort : undefined);
  const database = () =>
    checkDatabase({ data_dir: config.data_dir, database_url: config.server.database_url });
  const [examined, ports] = await Promise.all([
    examine(config, { factories: builtInFactories, database }, { env, signal }),
    port ? [await checkPort(config.server.host, port, daemon.port)] : [],
  ]);
  return [...examined, ...findings, ...checkSkills(options, terminal), ...ports, daemon.finding];
}

/** The user's skills that are not read, one finding each. */
function checkSkills(options: DaemonOptions, terminal: Terminal): DiagnosisFinding[] {
  return readKnownSkills(options, terminal).problems.map(({ file, line, message }) => ({
    ...{ what: "skill", status: "warning", detail: `${file}:${line}: ${message}` },
    fix: "labwright skills list names all that are left out.",
  }));
}

const problemsSchema = z.object({
  problems: z.array(
    z.object({
      file: z.string(),
      line: z.number().optional(),
      column: z.number().optional(),
      path: z.string(),
      message: z.string(),
    }),
  ),
});

function unboundSecrets({ secrets }: Config): DiagnosisFinding[] {
  const names = Object.keys(secrets).filter((name) => isAnywhere(secrets[name] ?? {}));
  if (names.length === 0) return [];
  const detail = `${names.join(", ")} may go to every site, as hosts under secrets.${names[0]} says`;
  return [{ what: "secrets", status: "ok", detail }];
}

/** Of a labwright.yaml that was found in the working directory and taken, and so is trusted if it needs to be. */
function trustedSettings({ file, data_dir }: Config, cwd: string): DiagnosisFinding[] {
  if (file?.path !== join(cwd, "labwright.yaml") || cwd === data_dir) return [];
  const settings = settingsToTrust(cwd) ?? [];
  const detail =
    settings.length > 0
      ? `${settings.join(", ")} in labwright.yaml are trusted as they are now; labwright trust --remove ends it`
      : "labwright.yaml needs none: it runs no program, reads no secret and opens no connection";
  return [{ what: "trust", status: "ok", detail }];
}

function readConfig(
  options: DaemonOptions,
  { env, cwd }: Terminal,
): { config?: Config; findings: DiagnosisFinding[] } {
  const what = "configuration";
  try {
    const config = loadConfig({
      command: "doctor",
      options: { config: options.config, data_dir: options.dataDir, log_level: options.logLevel },
      env,
      cwd,
    });
    const problems = createSecrets(config.secrets, env).problems();
    const detail = config.file?.path ?? "none; one device `browser` of model web";
    const secrets = problems.map(
      (problem): DiagnosisFinding => ({
        what: "secrets",
        status: "missing",
        detail: problem,
        fix: "Give it a value; tests that need it cannot run without",
      }),
    );
    const trust = options.config === undefined && !env.LABWRIGHT_CONFIG ? trustedSettings(config, cwd) : [];
    const found: DiagnosisFinding[] = [{ what, status: "ok", detail }, ...trust];
    return { config, findings: [...found, ...secrets, ...unboundSecrets(config)] };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const problems = problemsSchema.safeParse(error.details).data?.problems ?? [];
    const findings = problems.map(({ file, line, column, path, message }): DiagnosisFinding => {
      const place = line === undefined ? file : `${file}:${line}:${column}`;
      return {
        what,
        status: "missing",
        detail: [place, path, message].filter(Boolean).join(": "),
        fix: "Correct it there",
      };
    });
    if (findings.length > 0) return { findings };
    const isUntrusted = error.details?.untrusted !== undefined;
    const finding = { status: "missing", detail: error.message, fix: error.hint } as const;
    return { findings: [{ what: isUntrusted ? "trust" : what, ...finding }] };
  }
}

async function checkDaemon(dataDir: string): Promise<{ finding: DiagnosisFinding; port?: number }> {
  const what = "daemon";
  if (dataDirProblem(dataDir)) return { finding: { what, status: "ok", detail: "not looked for there" } };
  const attached = await findRunningDaemon(dataDir, `doctor/${process.pid}`);
  if (attached !== undefined) {
    attached.close();
    const { pid, port, version } = attached.file;
    return {
      finding: { what, status: "ok", detail: `version ${version} on port ${port}, pid ${pid}` },
      port,
    };
  }
  if (await isDataDirLocked(dataDir)) {
    return {
      finding: {
        what,
        status: "warning",
        detail: `a process owns ${dataDir} but no daemon answers`,
        fix: `It may be starting. If this stays, see ${join(dataDir, "logs", "daemon.log")}`,
      },
    };
  }
  return { finding: { what, status: "ok", detail: "not running; the first call starts it" } };
}

const marks = { ok: "ok     ", warning: "warning", missing: "MISSING" } as const;

function table(findings: readonly DiagnosisFinding[]): string {
  const lines = findings.flatMap(({ what, status, detail, fix }) => [
    `${marks[status]}  ${what}: ${detail}`,
    ...(fix === undefined ? [] : [`         fix: ${fix}`]),
  ]);
  const missing = findings.filter(({ status }) => status === "missing").length;
  lines.push(missing === 0 ? "Nothing is missing." : `${missing} missing.`);
  return `${lines.join("\n")}\n`;
}
