import type { ControllerFactory, DiagnosisContext, DiagnosisFinding } from "@labwright/controllers";
import type { Config } from "../../../config.ts";

type Device = Config["devices"][number];

/** More names than this of devices that share a finding are not listed. */
const mostNames = 5;

/** What each driver of each configured device needs. Devices that share a finding are named together. */
export async function checkDrivers(
  devices: readonly Device[],
  factories: readonly ControllerFactory[],
  context: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  const answers = new Map<string, Promise<readonly DiagnosisFinding[]>>();
  const found = await Promise.all(
    devices.map(async (device) => {
      const findings = await Promise.all(
        driversOf(device, factories).map((factory) => {
          const settings = factory.settings.parse(device.controllers[factory.name] ?? {});
          const key = JSON.stringify([factory.name, settings]);
          const answer = answers.get(key) ?? diagnose(factory, settings, context);
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
