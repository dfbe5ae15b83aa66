export { allBlocks } from "./graph.ts";
export { testNameOf } from "./parse.ts";
export { codeOf } from "./problems.ts";
export { createTestcases } from "./testcases.ts";
export type {
  AppsPort,
  ExecuteRequest,
  HttpPort,
  ImportOptions,
  ListedProblem,
  NavigationOutcome,
  NavigationPort,
  NavigationRequest,
  TestcaseDependencies,
  TestcaseReply,
  TestcaseResult,
  TestcaseService,
  TestcaseSummary,
  TestKeeper,
} from "./types.ts";
export { contentOf } from "./validate.ts";
