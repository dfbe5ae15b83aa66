/** An app that is there from the start. `isSystem`: it cannot be uninstalled. */
export type PersonaPackage = {
  name: string;
  label: string;
  versionCode: number;
  versionName: string;
  isSystem: boolean;
  /** The activity that a launcher starts, such as `.Main`; without one no launcher shows it. */
  launcher?: string;
  /** Further ones that it starts, as of a library for developers. */
  moreLaunchers?: readonly string[];
  /** Permissions that a person grants while it runs. */
  permissions?: readonly string[];
};

export const settingNamespaces = ["system", "secure", "global"] as const;
export type SettingNamespace = (typeof settingNamespaces)[number];

export type Persona = {
  apiLevel: number;
  isTv: boolean;
  /** In pixels, as it lies in its natural rotation; `density` in dots per inch. */
  screen: { width: number; height: number; density: number };
  properties: Readonly<Record<string, string>>;
  features: readonly string[];
  settings: Readonly<Record<SettingNamespace, Readonly<Record<string, string>>>>;
  packages: readonly PersonaPackage[];
  /** Texts that commands print which do not depend on what the device does, by their line, such as `dumpsys battery`. */
  outputs: Readonly<Record<string, string>>;
};
