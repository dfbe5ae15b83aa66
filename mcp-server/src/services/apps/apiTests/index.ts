export { type ApiTestService, createApiTests } from "./apiTests.ts";
export { type ApiEnd, apiEnd } from "./result.ts";
