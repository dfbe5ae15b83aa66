import { webSettingsSchema } from "@labwright/controllers";
import type { ControllerSettings } from "./schema.ts";

/** What a device may set, by controller. A controller without settings is not named here. */
export const controllerSettings: ControllerSettings = { web: webSettingsSchema };
