export { simulatedCaptureFactory, simulatedFactory, simulatedInfraredFactory } from "./factory.ts";
