export { createAuthoring } from "./generate.ts";
export type * from "./types.ts";
