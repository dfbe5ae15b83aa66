export { simulatedFactory } from "./simulatedDevice.ts";
