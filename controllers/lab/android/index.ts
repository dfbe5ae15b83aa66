import { type Adbd, type Authorisation, startAdbd } from "./adbd/adbd.ts";
import type { Traffic } from "./adbd/traffic.ts";
import { type LabFaults, noFaults } from "./faults.ts";
import type { Clock, LabUi } from "./labUi.ts";
import type { Delay } from "./personas/delays.ts";
import type { Persona } from "./personas/persona.ts";
import { crashAutomation } from "./userland/commands/instrument.ts";
import type { Instrumentation, System } from "./userland/system.ts";
import { createUserland } from "./userland/userland.ts";

export { documentedDelays } from "./personas/delays.ts";
export type { Persona } from "./personas/persona.ts";
export { phone } from "./personas/phone.ts";
export { phone2 } from "./personas/phone2.ts";
export { tv } from "./personas/tv.ts";

export type LabAndroidOptions = {
  persona: Persona;
  ui: LabUi;
  clock: Clock;
  /** Who may connect; anybody unless said. */
  authorisation?: Authorisation;
  /** How long commands take; no time unless said. */
  delays?: readonly Delay[];
  /** Starts the UiAutomator2 server, which `am instrument` of its component asks for. */
  instrument?: (component: string) => Promise<Instrumentation> | undefined;
};

/** A device that an adb server can connect to. */
export type LabAndroid = {
  readonly persona: Persona;
  readonly ui: LabUi;
  readonly adbd: Adbd;
  readonly traffic: Traffic;
  readonly faults: LabFaults;
  readonly system: System;
  /** Something on the device listens on an endpoint, such as `tcp:8080`: what listens on this port of loopback. */
  listen(endpoint: string, port: number): void;
  /** The process that has UiAutomation dies. */
  crashInstrumentation(): void;
  close(): Promise<void>;
};

/** Starts a device on a free port of loopback. `reboot` ends its connections and its apps, and it comes back at once. */
export async function startLabAndroid(options: LabAndroidOptions): Promise<LabAndroid> {
  const { persona, ui, clock, authorisation, delays = [], instrument = () => undefined } = options;
  const faults = noFaults();
  let rebootAdbd = () => {};
  const reboot = () => {
    crashAutomation(system);
    for (const name of [...ui.running()]) ui.stop(name);
    ui.home();
    rebootAdbd();
  };
  const { system, side } = createUserland({ persona, ui, clock, faults, delays, instrument, reboot });
  const adbd = await startAdbd(side, faults, authorisation);
  rebootAdbd = () => adbd.drop();
  return {
    persona,
    ui,
    adbd,
    traffic: adbd.traffic,
    faults,
    system,
    listen: (endpoint, port) => void system.endpoints.set(endpoint, port),
    crashInstrumentation: () => crashAutomation(system),
    async close() {
      crashAutomation(system);
      await adbd.close();
    },
  };
}
