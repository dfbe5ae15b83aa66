import type { ControllerFactory } from "../factory.ts";
import { homeAssistantPowerFactory, shellyFactory, tasmotaFactory } from "./plugs.ts";
import { commandFactory } from "./program.ts";
import { snmpFactory } from "./snmp.ts";
import { tapoFactory } from "./tapo.ts";

/** The drivers of outlets. Each makes one controller of the kind power. */
export const powerFactories: readonly ControllerFactory[] = [
  tasmotaFactory,
  shellyFactory,
  homeAssistantPowerFactory,
  tapoFactory,
  snmpFactory,
  commandFactory,
];
