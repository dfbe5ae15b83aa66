import type { LabUi } from "../labUi.ts";
import type { Persona, PersonaPackage } from "../personas/persona.ts";
import type { FileSystem } from "./files.ts";

export type InstalledPackage = PersonaPackage & {
  userId: number;
  path: string;
  installedAt: Date;
  /** The file that it came from; undefined for what was there from the start. */
  apk: Uint8Array | undefined;
};

export type ApkFacts = {
  packageName: string;
  versionCode: number;
  versionName: string;
  label: string;
  permissions: readonly string[];
  launcher: string | undefined;
  /** The class that instruments another app, and that app. */
  instrumentation: { runner: string; target: string } | undefined;
};

const firstUserId = 10_100;

export class Packages {
  private readonly packages = new Map<string, InstalledPackage>();
  private readonly instrumentations = new Map<string, { runner: string; target: string }>();

  constructor(
    persona: Persona,
    private readonly ui: LabUi,
    private readonly files: FileSystem,
  ) {
    for (const one of persona.packages) this.add(one, undefined);
    for (const { packageName, label } of ui.apps()) this.addApp(packageName, label);
  }

  all(): readonly InstalledPackage[] {
    return [...this.packages.values()];
  }

  find(name: string): InstalledPackage | undefined {
    return this.packages.get(name);
  }

  launchable(): readonly InstalledPackage[] {
    return this.all().filter(({ launcher }) => launcher !== undefined);
  }

  instrumented(): readonly { component: string; target: string }[] {
    return [...this.instrumentations].map(([name, { runner, target }]) => ({
      component: `${name}/${runner}`,
      target,
    }));
  }

  /** Installs or replaces; what was granted stays. */
  install(apk: ApkFacts, bytes: Uint8Array, grantsAll: boolean): void {
    const old = this.find(apk.packageName);
    this.add(
      {
        name: apk.packageName,
        label: apk.label,
        versionCode: apk.versionCode,
        versionName: apk.versionName,
        isSystem: old?.isSystem ?? false,
        permissions: apk.permissions,
        ...(apk.launcher !== undefined && { launcher: apk.launcher }),
      },
      bytes,
    );
    if (apk.instrumentation) this.instrumentations.set(apk.packageName, apk.instrumentation);
    if (old) this.ui.stop(apk.packageName);
    else this.ui.install(apk.packageName, apk.label);
    for (const permission of grantsAll ? apk.permissions : []) {
      this.ui.permission(apk.packageName, permission, true);
    }
  }

  remove(name: string): void {
    this.packages.delete(name);
    this.instrumentations.delete(name);
    this.ui.stop(name);
    this.ui.uninstall(name);
  }

  /** An app that the screen has; what the persona does not say of it is made up. */
  private addApp(name: string, label: string): void {
    const known = this.find(name);
    const made = {
      name,
      label,
      versionCode: 7,
      versionName: "1.2.0",
      isSystem: name.startsWith("com.android."),
    };
    const [launcher = ".Main"] = this.ui.activities(name);
    // The home screen does not list itself.
    const isHome = this.ui.front().packageName === name;
    this.add({ ...made, ...known, ...(!isHome && { launcher }) }, undefined);
  }

  private add(one: PersonaPackage, apk: Uint8Array | undefined): InstalledPackage {
    const path =
      one.isSystem && !apk ? `/system/app/${one.name}/${one.name}.apk` : `/data/app/${one.name}/base.apk`;
    const old = this.packages.get(one.name);
    const userId = old?.userId ?? (one.isSystem ? 1_000 : firstUserId) + this.packages.size;
    const installed = { ...one, userId, path, installedAt: new Date(), apk };
    this.packages.set(one.name, installed);
    this.files.place(path, apk ?? Buffer.from("PK"));
    return installed;
  }
}
