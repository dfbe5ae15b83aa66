import type { ControllerKind } from "./contract.ts";

/** What a device model implies. Data, so that a user's configuration can add models of its own. */
export type DeviceModel = { name: string; controllers: readonly ControllerKind[] };

export const deviceModels: readonly DeviceModel[] = [
  { name: "web", controllers: ["web", "verification_web"] },
  { name: "simulated", controllers: ["remote", "verification_text"] },
];
