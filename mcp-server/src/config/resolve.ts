import { dirname, join, resolve } from "node:path";
import { type ControllerKind, type DeviceModel, deviceModels, nearest } from "@labwright/controllers";
import type { ConfigFile } from "./schema.ts";
import type { Path } from "./source.ts";

/** One device of this host. `controllers` are the settings by controller name, already parsed by their schemas. */
export type DeviceSettings = {
  name: string;
  model: string;
  kinds: readonly ControllerKind[];
  controllers: Readonly<Record<string, unknown>>;
  watch?: true;
};

/** Where a secret's value comes from. */
export type SecretSource = { env: string } | { file: string };

type Report = (path: Path, message: string) => void;

/** The built-in models and the file's own. One of the same name replaces the built-in. */
export function resolveModels(file: ConfigFile, report: Report): DeviceModel[] {
  const seen = new Set<string>();
  file.models.forEach(({ name }, index) => {
    if (seen.has(name)) report(["models", index, "name"], `a second model "${name}"`);
    seen.add(name);
  });
  return [...deviceModels.filter(({ name }) => !seen.has(name)), ...file.models];
}

/** Every device, `count` written out: `name`, `name-2`, `name-3` ... */
export function resolveDevices(
  file: ConfigFile,
  models: readonly DeviceModel[],
  report: Report,
): DeviceSettings[] {
  const taken = new Set<string>();
  return file.devices.flatMap((device, index) => {
    const model = models.find(({ name }) => name === device.model);
    if (model === undefined) {
      const names = models.map(({ name }) => name);
      const [best] = nearest(device.model, names, 1);
      const offer = best === undefined ? `known are ${names.join(", ")}` : `did you mean "${best}"?`;
      report(["devices", index, "model"], `unknown model "${device.model}"; ${offer}`);
      return [];
    }
    const names = Array.from({ length: device.count }, (_, i) =>
      i === 0 ? device.name : `${device.name}-${i + 1}`,
    );
    for (const name of names) {
      if (taken.has(name)) report(["devices", index, "name"], `a second device "${name}"`);
      taken.add(name);
    }
    return names.map((name) => ({
      name,
      model: model.name,
      kinds: model.controllers,
      controllers: device.controllers,
      ...(device.watch && { watch: true }),
    }));
  });
}

/** Absolute folders: those of the file are relative to it, the others are in the data directory. */
export function resolveFolders(file: ConfigFile, dataDir: string, base: string, skillsDir?: string) {
  const own = (name: string, given: string | undefined) =>
    given === undefined ? join(dataDir, name) : resolve(base, given);
  return {
    scripts: own("scripts", file.folders.scripts),
    skills: skillsDir === undefined ? own("skills", file.folders.skills) : resolve(skillsDir),
    uploads: own("uploads", file.folders.uploads),
    artifacts: own("artifacts", file.folders.artifacts),
  };
}

export function resolveSecrets(file: ConfigFile, base: string): Record<string, SecretSource> {
  const sources = Object.entries(file.secrets).map(([name, source]): [string, SecretSource] => [
    name,
    "file" in source ? { file: resolve(base, source.file) } : source,
  ]);
  return Object.fromEntries(sources);
}

export function resolveTls(file: ConfigFile, base: string) {
  const { tls } = file.server;
  return tls && { cert: resolve(base, tls.cert), key: resolve(base, tls.key) };
}

export const baseOf = (path: string | undefined, cwd: string) => (path === undefined ? cwd : dirname(path));
