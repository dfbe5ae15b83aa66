export * from "./contract.ts";
export * from "./errors.ts";
export { type ControllerFactory, defineFactory } from "./factory.ts";
export { type DeviceModel, deviceModels } from "./models.ts";
export { nearest, similarity } from "./nearest.ts";
export {
  createWebControllers,
  type FoundBrowser,
  findBrowser,
  type WebSettings,
  webFactory,
  webSettingsSchema,
} from "./web/index.ts";
