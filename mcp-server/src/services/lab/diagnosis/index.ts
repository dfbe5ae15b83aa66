import type { ControllerFactory, DiagnosisContext, DiagnosisFinding } from "@labwright/controllers";
import type { SkillProblem } from "@labwright/skills";
import type { Config } from "../../../config.ts";
import { ownAddons } from "../../../storage/engine/ownAddons.ts";
import { createPairings, type Pairings } from "../../devices/pairings.ts";
import { checkOpenDatabase } from "./database.ts";
import { checkDataDir, checkDisks, checkNode, checkPrograms } from "./machine.ts";
import { checkRemotes } from "./remotes.ts";
import { checkBrowserWalls, checkScriptWalls } from "./walls.ts";

export type Diagnosis = { run(signal: AbortSignal): Promise<{ ok: boolean; findings: DiagnosisFinding[] }> };

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
  const pairings = createPairings(config.data_dir);
  const [stored, remotes, drivers, scripts] = await Promise.all([
    database(),
    checkRemotes(config.agents.remotes, env, signal),
    checkDrivers(config.devices, factories, { ...context, pairings }),
    checkScriptWalls(config.unsafe.unsandboxed_scripts, signal),
  ]);
  const machine = examineMachine(config.data_dir, env);
  const walls = [...checkBrowserWalls(config.devices), ...scripts];
  return [...machine, ...checkDisks(config), stored, ...drivers, ...walls, ...remotes];
}

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

type Device = Config["devices"][number];

const mostNames = 5;

/** What each driver of each configured device needs. Devices that share a finding are named together. */
async function checkDrivers(
  devices: readonly Device[],
  factories: readonly ControllerFactory[],
  { pairings, ...context }: DiagnosisContext & { pairings: Pairings },
): Promise<DiagnosisFinding[]> {
  const answers = new Map<string, Promise<readonly DiagnosisFinding[]>>();
  const found = await Promise.all(
    devices.map(async (device) => {
      const findings = await Promise.all(
        driversOf(device, factories).map(async (factory) => {
          const settings = factory.settings.parse(device.controllers[factory.name] ?? {});
          const isPaired = (await pairings.find(device.name, factory.name)) !== undefined;
          const key = JSON.stringify([factory.name, settings, isPaired]);
          const answer = answers.get(key) ?? diagnose(factory, settings, { ...context, isPaired });
          answers.set(key, answer);
          return answer;
        }),
      );
      return { device, findings: findings.flat() };
    }),
  );
  const shared = new Map<string, { finding: DiagnosisFinding; names: string[] }>();
  for (const { device, findings } of found) {
    for (const finding of findings) {
      const key = JSON.stringify(finding);
      const { names } = shared.get(key) ?? { names: [] };
      shared.set(key, { finding, names: [...names, device.name] });
    }
  }
  return [...shared.values()].map(({ finding, names }) => {
    const more = names.length > mostNames ? " …" : "";
    return { ...finding, what: `${finding.what} for ${names.slice(0, mostNames).join(", ")}${more}` };
  });
}

const driversOf = ({ drivers }: Device, factories: readonly ControllerFactory[]) =>
  factories.filter(({ name }) => drivers.includes(name));

async function diagnose(
  factory: ControllerFactory,
  settings: unknown,
  context: DiagnosisContext,
): Promise<readonly DiagnosisFinding[]> {
  const findings = await factory.diagnose?.(settings, context);
  return (
    findings ?? [{ what: `driver ${factory.name}`, status: "ok", detail: "names nothing that it needs" }]
  );
}
