import type { SkillProblem } from "@labwright/skills";
import type { Config } from "../../../config.ts";
import { checkBrowsers } from "./browsers.ts";
import { checkOpenDatabase } from "./database.ts";
import { checkDisks } from "./disks.ts";
import type { Finding } from "./finding.ts";
import { checkDataDir, checkNode, checkPrograms } from "./machine.ts";
import { checkSandbox } from "./sandbox.ts";

export type Diagnosis = { run(signal: AbortSignal): Promise<{ ok: boolean; findings: Finding[] }> };

/** Says why a device cannot be used here: what is missing, and what mends it. Starts and changes nothing. */
export function createDiagnosis(
  config: Config,
  database: { engine: string; ask(): Promise<unknown> },
  skillProblems: () => readonly SkillProblem[] = () => [],
): Diagnosis {
  return {
    async run(signal) {
      const simulated = config.devices.filter(({ kinds }) => !kinds.includes("web"));
      const findings: Finding[] = [
        checkNode(process.versions.node),
        ...checkPrograms(process.env, process.platform),
        checkDataDir(config.data_dir),
        ...checkDisks(config),
        await checkOpenDatabase(database.engine, database.ask),
        ...(await checkBrowsers(config, signal)),
        await checkSandbox(config.unsafe.unsandboxed_scripts, signal),
        ...simulated.map(({ name, model }): Finding => {
          return { what: `device ${name}`, status: "ok", detail: `model ${model}, needs nothing` };
        }),
        ...skillProblems().map(({ file, line, message }): Finding => {
          const fix = "Correct the file; it is read again at once.";
          return { what: `skill ${file}:${line}`, status: "warning", detail: message, fix };
        }),
      ];
      return { ok: findings.every(({ status }) => status !== "missing"), findings };
    },
  };
}
