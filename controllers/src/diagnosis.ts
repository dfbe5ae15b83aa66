import type { InstalledAddons } from "./contract.ts";

/** One thing that was looked at; `fix` is the command or setting that mends it when it is not ok. */
export type DiagnosisFinding = {
  what: string;
  status: "ok" | "warning" | "missing";
  detail: string;
  fix?: string;
};

/** `env` is where programs are looked for. */
export type DiagnosisContext = {
  env: Readonly<Record<string, string | undefined>>;
  addons: InstalledAddons;
  signal: AbortSignal;
  /** A pairing with the device is stored. */
  isPaired?: boolean;
};
