export { simulatedFactory, simulatedInfraredFactory } from "./factory.ts";
