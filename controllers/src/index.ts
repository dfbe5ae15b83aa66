export { type Addon, type Addons, createAddons } from "./addons/index.ts";
export { type AndroidRecording, androidFactory, pairAndroid, recordAndroid } from "./android/index.ts";
export { appiumFactory } from "./appium/index.ts";
export { avFactory } from "./av/index.ts";
export * from "./contract.ts";
export type { DiagnosisContext, DiagnosisFinding } from "./diagnosis.ts";
export { DispatchRecord, inputSent, withSecretInput } from "./dispatch.ts";
export { withConcealed } from "./elements/concealed.ts";
export { nearest, similarity } from "./elements/nearest.ts";
export { quoted, shortened } from "./elements/quoted.ts";
export { ranking } from "./elements/ranking.ts";
export { passes } from "./elements/readings.ts";
export { secretNameOf } from "./elements/secretName.ts";
export { type StateWord, stateSynonyms, stateWords } from "./elements/stateWords.ts";
export { wholeWords, withinAnother } from "./elements/text.ts";
export * from "./errors.ts";
export {
  type ControllerFactory,
  type CopyWish,
  type DiscoveredDevice,
  type DriverController,
  defineFactory,
  type KindOffer,
  nowhere,
} from "./factory.ts";
export { fenced } from "./fence.ts";
export { FrameHub, type FrameHubOptions, type PushedFrame } from "./frames/hub.ts";
export { oneKvmFactory } from "./kvm/index.ts";
export { type DeviceModel, deviceModels } from "./models.ts";
export { pictureUiFactory } from "./pictureUi/index.ts";
export { appShape, portable } from "./portable.ts";
export * from "./ports.ts";
export { powerFactories } from "./power/index.ts";
export { findProgram, type RunningProgram, runProgram, startProgram } from "./programs/run.ts";
export {
  type FoundSandbox,
  findSandbox,
  type Sandbox,
  type SandboxedProgram,
  type SandboxLimits,
  type SandboxMount,
  startUnsandboxed,
  type WatchedProgram,
  wallsOfScripts,
} from "./programs/sandbox.ts";
export {
  adbKeysFactory,
  cecFactory,
  globalCacheFactory,
  homeAssistantFactory,
  infraredFactory,
  kodiFactory,
  pairingDrivers,
  pairTv,
  rokuFactory,
  samsungFactory,
  webosFactory,
  x11Factory,
} from "./remotes/index.ts";
export { audioFactory } from "./sound/factory.ts";
export { clipped, rectIn } from "./spaces.ts";
export { videoFactory } from "./videochecks/index.ts";
export { imageFactory } from "./vision/imageFactory.ts";
export { textFactory } from "./vision/textFactory.ts";
export { atMost, untilAborted } from "./waiting/deadlines.ts";
export { quickly } from "./waiting/quickly.ts";
export { SharedWork } from "./waiting/sharedWork.ts";
export { createWorkerThread, type QuestionLimits, type WorkerThread } from "./waiting/workerThread.ts";
export {
  browserNames,
  createWebController,
  type FoundBrowser,
  findBrowser,
  resolveHost,
  type WebSettings,
  webFactory,
  webSettingsSchema,
} from "./web/index.ts";
