export * from "./domain/index.ts";
export { type ErrorCode, errorStatus, ToolError } from "./errors.ts";
