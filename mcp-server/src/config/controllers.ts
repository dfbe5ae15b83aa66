import { type ControllerFactory, webFactory } from "@labwright/controllers";
import { simulatedFactory } from "@labwright/controllers/lab";
import type { ControllerSettings } from "./schema.ts";

/** The drivers of this build. */
export const builtInFactories: readonly ControllerFactory[] = [webFactory, simulatedFactory];

/** What a device may set, by driver. */
export const controllerSettings: ControllerSettings = Object.fromEntries(
  builtInFactories.map(({ name, settings }) => [name, settings]),
);
