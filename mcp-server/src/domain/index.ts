export * from "./action.ts";
export * from "./common.ts";
export * from "./execution.ts";
export * from "./navigation.ts";
export * from "./testcase.ts";
export * from "./tree.ts";
