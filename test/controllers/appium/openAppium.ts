import { appiumFactory, type ControllerContext } from "@labwright/controllers";
import { makePhone, opened } from "../android/openAndroid.ts";

type Settings = Readonly<Record<string, unknown>>;

/** The controller of a device, which is open. */
export const openAppium = (settings: Settings, context: Partial<ControllerContext> = {}) =>
  opened(makeAppium(settings, context));

export const makeAppium = (settings: Settings, context: Partial<ControllerContext> = {}) =>
  makePhone(appiumFactory, settings, context);
