import {
  adbKeysFactory,
  androidFactory,
  appiumFactory,
  audioFactory,
  avFactory,
  type ControllerFactory,
  cecFactory,
  globalCacheFactory,
  homeAssistantFactory,
  imageFactory,
  infraredFactory,
  kodiFactory,
  nearest,
  oneKvmFactory,
  pictureUiFactory,
  powerFactories,
  rokuFactory,
  samsungFactory,
  textFactory,
  videoFactory,
  webFactory,
  webosFactory,
  x11Factory,
} from "@labwright/controllers";
import {
  simulatedCaptureFactory,
  simulatedFactory,
  simulatedInfraredFactory,
} from "@labwright/controllers/lab";

/** The drivers that are built in. What a device may say under `controllers` follows from them. */
export const builtInFactories: readonly ControllerFactory[] = [
  webFactory,
  androidFactory,
  appiumFactory,
  videoFactory,
  avFactory,
  textFactory,
  imageFactory,
  pictureUiFactory,
  simulatedFactory,
  simulatedInfraredFactory,
  simulatedCaptureFactory,
  adbKeysFactory,
  cecFactory,
  globalCacheFactory,
  homeAssistantFactory,
  infraredFactory,
  kodiFactory,
  rokuFactory,
  samsungFactory,
  webosFactory,
  x11Factory,
  ...powerFactories,
  oneKvmFactory,
  audioFactory,
];

/** Says of a driver that is not built in which ones are, and the nearest of them. */
export function notBuiltIn(driver: string, known: readonly string[]): string {
  const [best] = nearest(driver, known, 1);
  const suggestion = best === undefined ? "" : ` Did you mean "${best}"?`;
  return `the driver "${driver}" is not built in; known are ${known.join(", ")}.${suggestion}`;
}
