export * from "./domain/index.ts";
export { type ErrorCode, errors, ToolError } from "./errors.ts";
