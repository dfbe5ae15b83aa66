import type { Params } from "../../domain/index.ts";

export type ArtifactRef = { uri: string; sha256: string; mime_type: string; bytes: number };
/** Content-addressed files of this host. Throws ARTIFACT_STORE_FULL, ARTIFACT_NOT_FOUND. */
export type ArtifactStore = {
  put(bytes: Uint8Array, mimeType: string): Promise<ArtifactRef>;
  /** Copies a file piece by piece, so that its size does not matter; the file itself stays where it is. */
  putFile(path: string, mimeType: string): Promise<ArtifactRef>;
  get(sha256: string): Promise<{ bytes: Uint8Array; mimeType: string }>;
  /** Names of files of this host that begin so, newest first, at most a hundred. */
  startingWith(prefix: string): Promise<readonly string[]>;
};

/** Where a secret is about to go: a site, with the kind of field that it is typed into, or an app of a device. */
export type SecretPlace =
  | { url: string; field?: "password" | "other" | undefined }
  | { app: string | undefined };

/** Secrets by name. `fill` replaces `{{secret.NAME}}` in every string below `value`. */
export type Secrets = {
  fill<T>(value: T): T;
  /** Throws SECRET_NOT_FOUND for an unknown name, and for one without a value. */
  check(value: unknown): void;
  /** {@link check} of what will run later: a secret that is known may get its value until then. */
  checkNames(value: unknown): void;
  named(value: unknown): string[];
  /** Whether one of those that `value` names may not go everywhere. */
  areBound(value: unknown): boolean;
  /** The apps, by package, that one of those that `value` names may be typed into. */
  appsOf(value: unknown): string[];
  /** Throws SECRET_NOT_ALLOWED (a `DeviceError`) where one of those that `value` names may not go. */
  allow(value: unknown, place: SecretPlace): void;
  /**
   * The secret of this name, else the daemon's variable of this name, which is hidden from then on. Throws SECRET_NOT_FOUND for
   * neither, and for a value of less than 4 characters, which could not be hidden.
   */
  ofEnvironment(name: string): string;
  /** Hides a value from now on. */
  learn(name: string, value: string): void;
  /** Hides every known value and the credentials of addresses: for whatever leaves the server or is recorded. */
  mask<T>(value: T): T;
  /** Hides the known values only: for what a run goes on with, since an address must still lead somewhere. */
  maskValues<T>(value: T): T;
  /** Does `work` with the secrets as they are now, and with those `given` by name above them. */
  within<T>(given: Readonly<Record<string, string>>, work: () => T | Promise<T>): Promise<T>;
  /** The secrets that the caller works with, for a run that goes on behind it; released when the run has ended. */
  hold(): { run<T>(work: () => T): T; release(): void };
  /** Differs between runs whose secrets differ, and says nothing of them; empty where there is none. */
  fingerprint(): string;
  /** Secrets that had no value when the server started, a line each. */
  problems(): string[];
};

export type EventInput = {
  type: string;
  priority: "critical" | "high" | "normal";
  source: string;
  device_id?: string;
  execution_id?: string;
  alert_id?: string;
  payload: Params;
};
export type StoredEvent = EventInput & { id: number; at: string };
