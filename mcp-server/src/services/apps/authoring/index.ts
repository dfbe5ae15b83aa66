export { type AuthoringDependencies, type AuthoringService, createAuthoring } from "./generate.ts";
