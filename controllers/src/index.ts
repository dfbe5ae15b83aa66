export * from "./contract.ts";
export * from "./errors.ts";
export { type DeviceModel, deviceModels } from "./models.ts";
