import type { ControllerFactory, DiagnosisContext, DiagnosisFinding } from "@labwright/controllers";
import type { SkillProblem } from "@labwright/skills";
import type { Config } from "../../../config.ts";
import { ownAddons } from "../../../storage/engine/ownAddons.ts";
import { checkOpenDatabase } from "./database.ts";
import { checkDisks } from "./disks.ts";
import { checkDrivers } from "./drivers.ts";
import { checkDataDir, checkNode, checkPrograms } from "./machine.ts";
import { checkSandbox } from "./sandbox.ts";

export type Diagnosis = { run(signal: AbortSignal): Promise<{ ok: boolean; findings: DiagnosisFinding[] }> };

/** What a server needs of its machine whatever its configuration says. */
export const examineMachine = (
  dataDir: string,
  env: DiagnosisContext["env"],
): readonly DiagnosisFinding[] => [
  checkNode(process.versions.node),
  ...checkPrograms(env, process.platform),
  checkDataDir(dataDir),
];

/** All that a server of this configuration needs. Starts and changes nothing. */
export async function examine(
  config: Config,
  { factories, database }: { factories: readonly ControllerFactory[]; database(): Promise<DiagnosisFinding> },
  { env, signal }: Omit<DiagnosisContext, "addons">,
): Promise<DiagnosisFinding[]> {
  const context = { env, signal, addons: ownAddons(config.data_dir) };
  const [stored, drivers, sandbox] = await Promise.all([
    database(),
    checkDrivers(config.devices, factories, context),
    checkSandbox(config.unsafe.unsandboxed_scripts, signal),
  ]);
  const machine = examineMachine(config.data_dir, env);
  return [...machine, ...checkDisks(config), stored, ...drivers, sandbox];
}

/** Says why a device cannot be used here: what is missing, and what mends it. */
export function createDiagnosis(
  config: Config,
  factories: readonly ControllerFactory[],
  { engine, ask }: { engine: string; ask(): Promise<unknown> },
  skillProblems: () => readonly SkillProblem[] = () => [],
): Diagnosis {
  return {
    async run(signal) {
      const database = () => checkOpenDatabase(engine, ask);
      const findings = [
        ...(await examine(config, { factories, database }, { env: process.env, signal })),
        ...skillProblems().map(skillFinding),
      ];
      return { ok: findings.every(({ status }) => status !== "missing"), findings };
    },
  };
}

const skillFinding = ({ file, line, message }: SkillProblem): DiagnosisFinding => ({
  what: `skill ${file}:${line}`,
  status: "warning",
  detail: message,
  fix: "Correct the file; it is read again at once.",
});
