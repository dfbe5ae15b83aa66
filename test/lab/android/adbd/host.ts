import type { KeyObject } from "node:crypto";
import type { LabFaults } from "../faults.ts";
import type { DeviceSide } from "../labShell.ts";
import type { Traffic } from "./traffic.ts";

export type Keyring = {
  areNeeded(): boolean;
  /** Says whether `isIt` holds for an allowed key. */
  has(isIt: (key: KeyObject) => boolean): boolean;
  /** A host showed a key that is not allowed; `accept` lets it in. */
  ask(key: KeyObject, accept: () => void): void;
};

export type TransportHost = { device: DeviceSide; faults: LabFaults; traffic: Traffic; keys: Keyring };
